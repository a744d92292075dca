// Runs of maintenance: sweeps that must terminate a planted orphan and leave the instance of another deployment, and checks that
// must find no stuck workflow. They are started here and not by their schedules: each has a plan of its own.
import { stuckWorkflowsType } from '../../../contracts/stuck-workflows.ts';
import type { StuckWorkflowsInput, StuckWorkflowsReport } from '../../../contracts/stuck-workflows.ts';
import { controlQueue } from '../../../contracts/flush.ts';
import { sweepType } from '../../../contracts/sweep.ts';
import type { SweepInput, SweepReport } from '../../../contracts/sweep.ts';
import { eventually } from '../../support/eventually.ts';
import type { Bed } from './bed.ts';
import { begin, stepWithinMs, wait } from './life.ts';
import type { Life } from './life.ts';

export const sweepRunId = (key: string, run: number): string => `sweep/${key}/${run}`;

/** The grace period for orphans: short, because two sweeps must suffice. */
const graceMs = 1_000;
const workflowTaskTimeout = '3s';

/** Only one at a time: each sweep ends every orphan that it finds, and would leave none for another. */
export async function sweep(bed: Bed, life: Life): Promise<void> {
  begin(bed, life, life.id);
  const { deploymentId, provider } = { deploymentId: bed.deploymentId, provider: bed.ground.provider.name };
  const orphan = await plant(bed, life, deploymentId);
  const stranger = await plant(bed, life, 'dep_stranger');
  const input: SweepInput = { deploymentId, provider, providerQueue: bed.ground.queue, graceMs, dryRun: false };
  let run = 0;
  await wait(life, 'sweeps have ended the orphan', async () => {
    run += 1;
    const report = await bed.temporal.workflow.execute<(input: SweepInput) => Promise<SweepReport>>(sweepType, {
      workflowId: sweepRunId(life.id, run),
      ...{ taskQueue: controlQueue, workflowTaskTimeout, args: [input] },
    });
    if (report.refusal !== null) throw new Error(report.refusal);
    return (await bed.oracle.living(orphan.cluster)).length === 0;
  });
  if ((await bed.oracle.living(stranger.cluster)).length === 0)
    throw new Error('a sweep has ended the instance of another deployment');
  const { signal } = new AbortController();
  await wait(life, 'the stranger’s instance is ended', async () => {
    await bed.ground.provider.terminate(stranger, stranger.ids, signal);
    return true;
  });
}

export async function checkStuckWorkflows(bed: Bed, life: Life): Promise<void> {
  begin(bed, life, life.id);
  const report = await findStuck(bed, life.id, true);
  if (report.refusal !== null || report.checked === 0) throw new Error(`it checked nothing: ${report.refusal}`);
}

export async function findStuck(bed: Bed, id: string, autoReset: boolean): Promise<StuckWorkflowsReport> {
  const input: StuckWorkflowsInput = { deploymentId: bed.deploymentId, autoReset };
  return bed.temporal.workflow.execute<(input: StuckWorkflowsInput) => Promise<StuckWorkflowsReport>>(
    stuckWorkflowsType,
    {
      workflowId: `stuck-workflows/${id}`,
      ...{ taskQueue: controlQueue, workflowTaskTimeout, workflowExecutionTimeout: '1m', args: [input] },
    },
  );
}

let lastPlanted = 900_000;

/** An agent that gets no answer, of a cluster that never existed. */
async function plant(bed: Bed, life: Life, deploymentId: string) {
  const { ground } = bed;
  lastPlanted += 1;
  const owner = { deploymentId, workspace: 'default', cluster: lastPlanted };
  bed.ask(owner.cluster, 2);
  const { placement } = ground;
  const request = {
    owner,
    ...{ clusterName: 'planted', token: `planted ${life.id} ${deploymentId}`, apiUrl: 'http://127.0.0.1:9' },
    slots: [{ slot: 1, generation: 1, role: 'worker' as const }],
    launchToken: 'of no use',
    ...(placement === null ? {} : { placement: { head: placement, worker: placement, oneZone: true } }),
  };
  const { launched } = await eventually(() => ground.provider.launch(request), {
    timeoutMs: stepWithinMs,
    intervalMs: 300,
  });
  await wait(life, 'what was planted lives', async () => (await bed.oracle.agents(owner.cluster)).length === 1);
  return { ...owner, ids: launched.map(({ id }) => id) };
}
