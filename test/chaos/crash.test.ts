// SIGKILL of the Temporal worker, the API, an agent, the Temporal server, and all of them at once, at seeded times while a job of
// many tasks has open leases. The evidence comes from outside the product: files that the tasks append to, and the process table.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import { createClient } from '../../sdk/client.ts';
import type { Client, Job, Task } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids, isAlive, killNow, read } from '../support/kills.ts';
import { createRandom, shuffled } from '../support/random.ts';
import type { Kill } from '../support/kills.ts';
import { makeHome, removeHome, startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

const seed = Number(process.env['SEED'] ?? 20_261_121);
/** `npm run chaos` runs three of each. */
const killsOfEach = Number(process.env['KILLS_OF_EACH'] ?? 1);
const taskCount = 20 + 60 * killsOfEach;

describe(`${taskCount} tasks under kill -9 (SEED=${seed})`, () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-crash-out-'));
  let stack: TestStack;
  let client: Client;
  beforeAll(async () => {
    stack = await startStack();
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  });
  afterAll(async () => {
    await stack.stop();
    rmSync(out, { recursive: true, force: true });
  });

  it('records every task exactly once and runs each at least once', async () => {
    const random = createRandom(seed);
    const runs = join(out, 'runs');
    mkdirSync(runs);
    const { number } = await client.jobs.create({
      command: ['bash', '-c', script],
      env: { RUNS: runs },
      ntasks: taskCount,
      maxWorkers: 4,
      lease: 2,
    });
    const kills: Kill[] = [];
    const targets = ['worker', 'api', 'agent', 'temporal', 'all at once'].flatMap((target) =>
      Array.from({ length: killsOfEach }, () => target),
    );
    for (const target of shuffled(targets, random)) {
      await progress(client, number, 2 + Math.floor(random() * 4));
      const pids = await eventually(() => victims(stack, target, random));
      kills.push(await killNow(target, pids, client, number));
      await replaced(stack, target, pids);
    }
    const job = await eventually(() => over(client, number), { timeoutMs: 120_000, intervalMs: 200 });

    expect(job.status).toBe('done');
    expect(job.tasks.done).toBe(taskCount);
    const tasks = await collect(client, number);
    expect(tasks.map((task) => task.index)).toEqual(Array.from({ length: taskCount }, (_, index) => index));
    expect(tasks.every((task) => task.state === 'done' && task.exitCode === 0)).toBe(true);
    expect(recordsInArchive(stack, number)).toEqual(tasks.map((task) => task.index));
    const ran = runsByTask(runs);
    expect([...ran.keys()].toSorted((a, b) => a - b)).toEqual(tasks.map((task) => task.index));

    // A run whose kills had no effect proves nothing.
    expect(kills.filter((kill) => kill.leasesHeld > 0).length).toBe(5 * killsOfEach);
    expect(job.counters.lost).toBeGreaterThanOrEqual(killsOfEach);
    console.log(
      `${kills.length} kills, ${job.counters.lost} attempts lost, ${job.counters.stale} stale, ${job.counters.repeated} repeated; ` +
        `${[...ran.values()].reduce((sum, count) => sum + count, 0)} runs of ${taskCount} tasks`,
    );
    await eventually(() => agentPids(stack.home).size === 0);
  });
});

describe('SIGKILL of the whole stack', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-crash-out-'));
  let stack: TestStack | null = null;
  afterEach(async () => {
    await stack?.stop();
    rmSync(out, { recursive: true, force: true });
  });

  let home: string;
  beforeAll(async () => {
    home = await makeHome();
  });
  afterAll(() => removeHome(home));

  it('leaves the agents to go on, and a new `ropewalk dev` finds them on their first attempt', async () => {
    stack = await startStack({ home });
    const first = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const { number } = await first.jobs.create({
      command: [
        'bash',
        '-c',
        'echo "$$ $ROPEWALK_TASK_ATTEMPT" >> "$OUT/task-$ROPEWALK_BATCH_TASK_ID"; until [ -e "$OUT/go" ]; do sleep 0.1; done',
      ],
      env: { OUT: out },
      ntasks: 4,
      maxWorkers: 2,
      lease: 2,
    });
    await eventually(async () => (await first.jobs.get(number)).tasks.running === 2);
    const agents = agentPids(home);
    expect(agents.size).toBe(2);
    const killed = [stack.dev.pid ?? 0, ...Object.values(await stack.childPids())];
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    expect(killed.length).toBeGreaterThanOrEqual(4);
    await eventually(() => killed.every((pid) => !isAlive(pid)));
    // The agents outlive a whole lease without the control plane: its outage ends no task.
    expect([...agents.values()].every(isAlive)).toBe(true);

    stack = await startStack({ home });
    expect(agentPids(home)).toEqual(agents);
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const running = await eventually(async () => {
      const open = await collect(client, number);
      return open.filter((task) => task.state === 'running').length === 2 ? open : null;
    });
    expect(running.filter((task) => task.state === 'running').map((task) => task.attempt)).toEqual([1, 1]);
    writeFileSync(join(out, 'go'), '');
    const job = await eventually(() => over(client, number), { timeoutMs: 60_000 });
    expect(job.status).toBe('done');
    expect(job.counters).toMatchObject({ lost: 0, stale: 0, retried: 0 });
    expect((await collect(client, number)).map((task) => task.attempt)).toEqual([1, 1, 1, 1]);
    for (const name of readdirSync(out).filter((each) => each.startsWith('task-'))) {
      expect(readFileSync(join(out, name), 'utf8').trim().split('\n').length, `${name} ran once`).toBe(1);
    }
  });
});

describe('SIGSTOP of an agent past its lease', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-crash-out-'));
  let stack: TestStack | null = null;
  afterEach(async () => {
    await stack?.stop();
    rmSync(out, { recursive: true, force: true });
  });

  it('moves its task elsewhere before it wakes, and refuses its late result', async () => {
    stack = await startStack();
    const { home } = stack;
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    // Task 0 waits for its file in its first attempt only; the other tasks keep the second agent reporting meanwhile.
    const { number } = await client.jobs.create({
      command: [
        'bash',
        '-c',
        'if [ "$ROPEWALK_BATCH_TASK_ID-$ROPEWALK_TASK_ATTEMPT" = 0-1 ]; then until [ -e "$OUT/go" ]; do sleep 0.1; done; touch "$OUT/ended"; else sleep 0.5; fi',
      ],
      env: { OUT: out },
      ntasks: 60,
      maxWorkers: 2,
      lease: 1,
    });
    const held = await eventually(async () => {
      const [task] = await collect(client, number);
      return task?.state === 'running' ? task : null;
    });
    const frozen = agentPids(home).get(held.instance ?? '');
    expect(frozen).toBeDefined();
    if (frozen === undefined) return;
    process.kill(frozen, 'SIGSTOP');
    const elsewhere = await eventually(
      async () => {
        const [task] = await collect(client, number);
        return task?.state === 'done' ? task : null;
      },
      { timeoutMs: 60_000 },
    );
    expect(elsewhere.attempt).toBe(2);
    expect(elsewhere.instance).not.toBe(held.instance);
    expect((await client.jobs.get(number)).counters.stale).toBe(0);

    // The command ends while its agent is frozen: the agent wakes with an unreported result.
    writeFileSync(join(out, 'go'), '');
    await eventually(() => existsSync(join(out, 'ended')));
    process.kill(frozen, 'SIGCONT');
    await eventually(async () => (await client.jobs.get(number)).counters.stale === 1);
    const [after] = await collect(client, number);
    expect(JSON.stringify(after)).toBe(JSON.stringify(elsewhere));
    const job = await eventually(() => over(client, number), { timeoutMs: 120_000, intervalMs: 200 });
    expect(job.status).toBe('done');
    expect(job.tasks.done).toBe(60);
  });
});

/** Works for 0.2 to 1 s, then writes one line: task, attempt, process. */
const script =
  'sleep "0.$((RANDOM % 8 + 2))"; echo "$ROPEWALK_BATCH_TASK_ID $ROPEWALK_TASK_ATTEMPT $$" >> "$RUNS/task-$ROPEWALK_BATCH_TASK_ID"';

/** Waits until more tasks are done than at the call: the killed processes work again. */
async function progress(client: Client, number: number, more: number): Promise<void> {
  let from: number | null = null;
  await eventually(
    async () => {
      const job = await client.jobs.get(number);
      if (job.staleSince !== null) return false;
      from ??= job.tasks.done;
      return job.tasks.done >= from + more && job.tasks.assigned + job.tasks.running > 0;
    },
    { timeoutMs: 60_000, intervalMs: 50 },
  );
}

async function victims(stack: TestStack, target: string, random: () => number): Promise<number[] | null> {
  const pids = await stack.childPids();
  const agents = [...agentPids(stack.home).values()];
  const agent = agents[Math.floor(random() * agents.length)];
  if (agent === undefined) return null;
  if (target === 'agent') return [agent];
  const named = ['worker', 'api', 'temporal'].map((name) => pids[name]);
  if (target !== 'all at once') return onlyAlive([pids[target]]);
  return onlyAlive([...named, agent]);
}

/** Null unless all of them are alive; a kill needs all. */
function onlyAlive(pids: (number | undefined)[]): number[] | null {
  const alive = pids.filter((pid) => pid !== undefined && isAlive(pid)).filter((pid) => pid !== undefined);
  return alive.length === pids.length ? alive : null;
}

/** A killed process of the stack restarts under another pid; another instance fills a killed agent's slot. */
async function replaced(stack: TestStack, target: string, killed: number[]): Promise<void> {
  if (target === 'agent') return;
  const names = target === 'all at once' ? ['worker', 'api', 'temporal'] : [target];
  await eventually(async () => {
    const pids = await stack.childPids();
    return names.every((name) => {
      const pid = pids[name];
      return pid !== undefined && !killed.includes(pid) && isAlive(pid);
    });
  });
}

async function over(client: Client, number: number): Promise<Job | null> {
  const job = await client.jobs.get(number);
  return ['done', 'error', 'cancelled'].includes(job.status) ? job : null;
}

async function collect(client: Client, number: number): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of client.jobs.tasks(number)) tasks.push(task);
  return tasks;
}

/** Read from the object store's files and sorted: a task with two records appears twice. */
function recordsInArchive(stack: TestStack, number: number): number[] {
  const records: number[] = [];
  for (let page = 0; ; page += 1) {
    const found = read<TaskRecord[]>(join(stack.home, 'objects', taskPageKey('default', number, page)));
    if (found === null) return records.toSorted((a, b) => a - b);
    records.push(...found.map((record) => record.task));
  }
}

function runsByTask(runs: string): Map<number, number> {
  return new Map(
    readdirSync(runs).map((name) => [
      Number(name.slice('task-'.length)),
      readFileSync(join(runs, name), 'utf8').trim().split('\n').length,
    ]),
  );
}
