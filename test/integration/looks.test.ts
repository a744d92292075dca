// A workspace's look on a real Temporal server, with activities of the test's own making: one reservation whose archive entry
// cannot be written must not keep the others from what is due to them.
import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createWorkspaceState } from '../../domain/workspace/create.ts';
import type { HolderSighting } from '../../domain/workspace/reconcile.ts';
import type { Holder } from '../../domain/workspace/state.ts';
import { clusterMessages, clusterWorkflowId } from '../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import {
  type WorkspaceInput,
  workspaceMessages,
  workspaceType,
  type WorkspaceView,
} from '../../workflows/workspace/messages.ts';
import { eventually } from '../support/eventually.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

/** Its archive entries cannot be written. */
const broken = 1;
/** The job's workflow is gone and its cluster is not, the other way round, or nothing of it runs. */
const [jobless, clusterless, gone] = [2, 3, 4];

const sightings: HolderSighting[] = [
  { number: broken, job: 'closed', cluster: 'open' },
  { number: jobless, job: 'closed', cluster: 'open' },
  { number: clusterless, job: 'open', cluster: 'closed' },
  { number: gone, job: 'not found', cluster: 'not found' },
];

describe('a look of a workspace', () => {
  let temporal: TestTemporal;
  const archived: number[] = [];
  beforeAll(async () => {
    temporal = await sharedTemporal({
      control: {
        lookAtHolders: async () => ({ sightings }),
        whereWas: async () => ({ provider: 'local', providerQueue: 'local/test' }),
        archiveEnded: async ({ holder }: { holder: Holder }) => {
          if (holder.number === broken) throw ApplicationFailure.nonRetryable('the disk is full');
          archived.push(holder.number);
        },
        leaseNumbers: async () => ({ next: 1_000, end: 2_000 }),
      },
      instances: { terminateRemains: async () => ({ ids: [] }) },
    });
    // Nobody works on this queue: they are there to be told.
    for (const workflowId of [clusterWorkflowId(jobless), jobWorkflowId(clusterless)]) {
      await temporal.client.workflow.start('nothing', { workflowId, taskQueue: 'nobody', args: [] });
    }
  });
  afterAll(() => temporal?.stop());

  const holder = (number: number, what: 'both' | 'job' | 'cluster'): Holder => ({
    ...{ number, kind: 'job', name: `job-${number}`, admissionId: `adm_${number}`, specRef: `specs/${number}` },
    ...{ user: 'ada', instances: 1, vcpus: 1, reservedAtMs: 0, state: 'running', seen: { what, atMs: 0 } },
  });
  const signalsTo = async (workflowId: string): Promise<string[]> => {
    const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? []);
  };

  it('does for each what is due to it, whatever becomes of the others', async () => {
    const input: WorkspaceInput = { slug: 'w', deploymentId: 'dep_a', createdAtMs: 1, block: { next: 10, end: 1_000 } };
    const holders = [
      holder(broken, 'job'),
      holder(jobless, 'job'),
      holder(clusterless, 'cluster'),
      holder(gone, 'both'),
    ];
    const workspace = await temporal.client.workflow.start(workspaceType, {
      workflowId: 'workspace/w',
      taskQueue: controlQueue,
      args: [{ ...input, carry: { ...createWorkspaceState(input), holders, lookWanted: true } }],
    });
    const held = async (): Promise<number[]> =>
      (await workspace.query<WorkspaceView>(workspaceMessages.view)).holders.map(({ number }) => number);
    await eventually(async () => !(await held()).includes(gone));
    await eventually(async () => (await signalsTo(clusterWorkflowId(jobless))).length > 0);
    await eventually(async () => (await signalsTo(jobWorkflowId(clusterless))).length > 0);
    expect(await signalsTo(clusterWorkflowId(jobless))).toEqual([clusterMessages.stop]);
    expect(await signalsTo(jobWorkflowId(clusterless))).toEqual([jobMessages.cancel]);
    expect(archived.toSorted((a, b) => a - b)).toEqual([jobless, gone]);
    // Its cluster has not been told: it would have released the reservation, and with it the last trace of the job.
    expect(await held()).toEqual([broken, jobless, clusterless]);
  });
});
