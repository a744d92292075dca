// The lives that the matrix disturbs: real clusters and jobs, created, scaled, stopped and run. Each step requests a state and
// waits until the process table shows it. At the end no process of the life may remain, and every task ran and is recorded.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { clusterMessages, clusterWorkflowId } from '../../../contracts/cluster.ts';
import type { ScaleSignal } from '../../../contracts/cluster.ts';
import { NotFoundError } from '../../../sdk/errors.ts';
import { eventually } from '../../support/eventually.ts';
import type { Bed } from './bed.ts';
import { begin, stepWithinMs, wait } from './life.ts';
import type { Life, Scenario } from './life.ts';
import { slotsOf } from './oracle.ts';
import { recordedTasks, ranTasks } from './records.ts';
import { clusterReplays, jobReplays } from './replays.ts';
import { checkStuckWorkflows, sweep } from './upkeep.ts';

/** Each throws when a requested state is not reached. */
export const scenarios: Record<Scenario, (bed: Bed, life: Life) => Promise<void>> = {
  /** Created, scaled out, scaled in, run to its end. */
  async grow(bed, life) {
    const number = await submit(bed, life);
    await reach(bed, life, number, [0, 1]);
    bed.ask(number, 3);
    await scale(bed, life, number, 3);
    await reach(bed, life, number, [0, 1, 2]);
    await scale(bed, life, number, 1);
    await reach(bed, life, number, [0]);
    bed.ask(number, 1);
    await finish(bed, life, number);
  },
  /** Created, and stopped twice while its job runs. */
  async stop(bed, life) {
    const number = await submit(bed, life);
    await reach(bed, life, number, [0, 1]);
    await bed.client.clusters.stop(number).catch(() => stopLife(bed, life));
    await stopLife(bed, life);
    await finish(bed, life, number);
  },
  /** An instance is killed while it runs a task: it is detected, verifiably ended and replaced, and its task runs again. */
  async recover(bed, life) {
    const number = await submit(bed, life);
    await reach(bed, life, number, [0, 1]);
    // The kill waits for a running task: an instance that dies before it registers is waited for two minutes, by design.
    await wait(life, 'a task runs in slot 1', async () =>
      (await bed.oracle.living(number)).some((each) => each.slot === 1 && !each.isAgent),
    );
    const victim = (await bed.oracle.agents(number)).find((agent) => agent.slot === 1);
    if (victim !== undefined) await bed.ground.strike(victim.instance, victim.pid);
    await wait(life, 'another instance fills slot 1', async () =>
      (await bed.oracle.agents(number)).some((agent) => agent.slot === 1 && agent.instance !== victim?.instance),
    );
    await finish(bed, life, number);
  },
  /** A cluster without a job, stopped once its instances live: its activities read and delete other data than a job's cluster. */
  async dask(bed, life) {
    const { id } = life;
    const created = await eventually(
      () => bed.client.clusters.create({ workers: 1, name: id, ...bed.ground.clusterMachines }, { idempotencyKey: id }),
      { timeoutMs: stepWithinMs, intervalMs: 300 },
    );
    begin(bed, life, String(created.number));
    bed.ask(created.number, 2);
    await reach(bed, life, created.number, [0, 1]);
    await stopLife(bed, life);
    await wait(life, 'the end of the cluster', () => hasEnded(bed, life, created.number), { alsoWhenStopped: true });
    await nothingLeft(bed, life, created.number);
    await clusterReplays(bed, created.number);
  },
  sweep,
  'stuck-workflows': checkStuckWorkflows,
};

/** Requests the end of a life, as its user would. */
export async function stopLife(bed: Bed, life: Life): Promise<void> {
  const number = Number(life.key);
  const { jobs, clusters } = bed.client;
  await eventually(
    async () => {
      await (life.scenario === 'dask' ? clusters.stop(number) : jobs.cancel(number));
      return true;
    },
    { timeoutMs: stepWithinMs, intervalMs: 100 },
  );
  life.isStopped = true;
}

const tasks = 4;
/** Waits for the file `go`, then appends one line: task, attempt, process. */
const script =
  'until [ -e "$RUNS/go" ]; do sleep 0.2; done; echo "$ROPEWALK_BATCH_TASK_ID $ROPEWALK_TASK_ATTEMPT $$" >> "$RUNS/task-$ROPEWALK_BATCH_TASK_ID"';

async function submit(bed: Bed, life: Life): Promise<number> {
  const { id } = life;
  const directory = join(bed.runs, id);
  mkdirSync(directory);
  const job = {
    command: ['bash', '-c', script],
    env: { RUNS: directory },
    name: id,
    ntasks: tasks,
    maxWorkers: 2,
    lease: 2,
    ...bed.ground.jobMachines,
  };
  const { number } = await eventually(() => bed.client.jobs.create(job, { idempotencyKey: id }), {
    timeoutMs: stepWithinMs,
    intervalMs: 300,
  });
  begin(bed, life, String(number));
  bed.ask(number, 2);
  return number;
}

async function scale(bed: Bed, life: Life, number: number, instances: number): Promise<void> {
  const signal: ScaleSignal = { instances, by: 'matrix', seq: 1 };
  await wait(life, `it is asked for ${instances} instances`, async () => {
    await bed.temporal.workflow.getHandle(clusterWorkflowId(number)).signal(clusterMessages.scale, signal);
    return true;
  });
}

const reach = (bed: Bed, life: Life, number: number, slots: number[]): Promise<void> =>
  wait(life, `agents live in slots ${slots.join(', ')} and in no others`, async () => {
    const found = slotsOf(await bed.oracle.agents(number));
    if (found.join() !== slots.join()) throw new Error(`they live in ${found.join(', ')}`);
    return true;
  });

async function finish(bed: Bed, life: Life, number: number): Promise<void> {
  const directory = join(bed.runs, life.id);
  writeFileSync(join(directory, 'go'), '');
  const anyway = { alsoWhenStopped: true };
  let status = 'pending';
  await wait(
    life,
    'the end of the job',
    async () => {
      ({ status } = await bed.client.jobs.get(number));
      return ['done', 'error', 'cancelled'].includes(status);
    },
    anyway,
  );
  await wait(life, 'the end of the cluster', () => hasEnded(bed, life, number), anyway);
  await nothingLeft(bed, life, number);
  await jobReplays(bed, number);
  await clusterReplays(bed, number);
  // A stop after the last task changes nothing; a job whose cluster was stopped could not continue.
  const ends = life.isStopped ? ['done', 'cancelled', ...(life.scenario === 'stop' ? ['error'] : [])] : ['done'];
  if (!ends.includes(status)) throw new Error(`the job ended as ${status}`);
  const recorded = recordedTasks(bed.stack.home, number);
  if (new Set(recorded).size !== recorded.length) throw new Error(`recorded twice, of tasks ${recorded.join()}`);
  if (status !== 'done') return;
  const all = Array.from({ length: tasks }, (_, index) => index).join();
  if (recorded.join() !== all) throw new Error(`recorded are tasks ${recorded.join()}, not ${all}`);
  const ran = ranTasks(directory).join();
  if (ran !== all) throw new Error(`by their own files ran tasks ${ran}, not ${all}`);
}

async function hasEnded(bed: Bed, life: Life, number: number): Promise<boolean> {
  try {
    return (await bed.client.clusters.get(number)).endedAt !== null;
  } catch (error) {
    // A job that was cancelled before it had a cluster never gets one.
    if (life.isStopped && error instanceof NotFoundError) return true;
    throw error;
  }
}

/** Checked at the moment at which its cluster reports its end, not later. */
async function nothingLeft(bed: Bed, life: Life, number: number): Promise<void> {
  const left = await bed.oracle.living(number);
  if (left.length > 0) throw new Error(`${life.scenario} ${number} has ended, but there are ${JSON.stringify(left)}`);
}
