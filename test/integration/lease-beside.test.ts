// A workspace that gets no new block of numbers, on a real Temporal server: what it has numbers for is started all the same, and
// the block is asked for again under the same number until it comes.
import { randomUUID } from 'node:crypto';

import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { AdmitItem } from '../../domain/workspace/state.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import type { FlushAnswer } from '../../contracts/flush.ts';
import { workspaceMessages, workspaceType } from '../../workflows/workspace/messages.ts';
import type { AdmitOk, WorkspaceInput } from '../../workflows/workspace/messages.ts';
import { eventually } from '../support/eventually.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const asked: string[] = [];
let temporal: TestTemporal;
let standsStill = true;
let givesUp = false;

beforeAll(async () => {
  temporal = await sharedTemporal({
    control: {
      // A job that has begun is enough.
      loadJob: async () => {
        throw new Error('not here');
      },
      leaseNumbers: async ({ opId }: { opId: string }) => {
        asked.push(opId);
        if (givesUp) {
          givesUp = false;
          throw ApplicationFailure.nonRetryable('this lease is given up');
        }
        if (standsStill) throw new Error('the deployment workflow stands still');
        return opId === 'w/1' ? { from: 100, to: 110 } : { from: 200, to: 210 };
      },
    },
    instances: { nothing: async () => null },
  });
});
afterAll(() => temporal.stop());

it('starts what it has numbers for, and asks again', { timeout: 120_000 }, async () => {
  const input: WorkspaceInput = { slug: 'w', deploymentId: 'd', createdAtMs: 1, block: { next: 10, end: 11 } };
  const handle = await temporal.client.workflow.start(workspaceType, {
    workflowId: 'workspace/w',
    taskQueue: controlQueue,
    args: [input],
  });
  const admit = async (): Promise<number> => {
    const answer = await handle.executeUpdate<FlushAnswer<AdmitOk>, [{ items: AdmitItem[] }]>(workspaceMessages.admit, {
      args: [{ items: [anItem()] }],
    });
    const [first] = answer.items;
    if (first === undefined || !('ok' in first)) throw new Error(JSON.stringify(answer));
    return first.ok.number;
  };
  const isStarted = (number: number): Promise<unknown> =>
    eventually(() => temporal.client.workflow.getHandle(jobWorkflowId(number)).describe(), { timeoutMs: 20_000 });

  await eventually(() => asked.length > 0);
  await isStarted(await admit());
  // Given up, it is asked for again.
  givesUp = true;
  await eventually(() => !givesUp, { timeoutMs: 20_000 });
  const given = asked.length;
  await eventually(() => asked.length > given, { timeoutMs: 20_000 });
  await isStarted(await admit());
  expect(new Set(asked)).toEqual(new Set(['w/1']));

  standsStill = false;
  const number = await eventually(admit, { timeoutMs: 20_000 });
  expect(number).toBe(100);
  await isStarted(number);
  await eventually(() => asked.includes('w/2'));
});

const anItem = (): AdmitItem => ({
  ...{
    admissionId: randomUUID(),
    idempotencyKey: `ada:${randomUUID()}`,
    bodyHash: 'f'.repeat(64),
    kind: 'job',
    name: '',
  },
  ...{ getOrCreate: false, specRef: 's', user: 'ada', instances: 1, vcpus: 1 },
});
