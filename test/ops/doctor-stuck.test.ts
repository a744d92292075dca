// The command that the doctor prints for a stuck workflow, run as printed: the workflow continues.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { StuckWorkflowsReport } from '../../contracts/stuck-workflows.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { stuckAttempts } from '../../domain/stuck/limits.ts';
import { checkStuckWorkflows } from '../../ops/doctor/stuck-workflows.ts';
import { eventually } from '../support/eventually.ts';
import { fixture as workflowsPath, makeStuck } from '../support/stuck.ts';
import { claimNamespace, startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const taskQueue = 'fixtures';
let temporal: TestTemporal;
let native: NativeConnection;
let report: StuckWorkflowsReport = { refusal: null, checked: 1, unknown: [], stuck: [] };
beforeAll(async () => {
  temporal = await startTemporal({
    // Other tests cover its findings.
    control: { resetStuckWorkflows: async () => report },
    instances: { nothing: async () => null },
  });
  native = await NativeConnection.connect({ address: temporal.address });
  await claimNamespace(temporal.client, 'dep_own');
});
afterAll(async () => {
  await native?.close();
  await temporal?.stop();
});

it('resets to the workflow task before the event that the failure names', async () => {
  const { address, client } = temporal;
  const workflowId = 'cluster/7';
  await makeStuck({ client, native, taskQueue, code: { workflowsPath } }, workflowId);
  const worker = await Worker.create({ connection: native, namespace: 'ropewalk', taskQueue, workflowsPath });
  await worker.runUntil(async () => {
    const handle = client.workflow.getHandle(workflowId);
    await handle.signal('wake');
    const attempts = async (): Promise<number> => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0;
    await eventually(async () => (await attempts()) >= stuckAttempts);
    const failures = ((await handle.fetchHistory()).events ?? []).flatMap(
      ({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes?.failure?.message ?? [],
    );
    const text = failures.at(-1) ?? '';
    expect(text).toMatch(/HistoryEvent\(id: \d+/);
    report = { ...report, stuck: [{ workflowId, outcome: 'reported', text }] };

    const patient = { env: { TEMPORAL_ADDRESS: address }, home: '/nowhere', connection: { problem: 'not asked' } };
    const [found] = await checkStuckWorkflows(patient);
    expect(found).toMatchObject({ check: workflowId, state: 'broken' });
    const command = /By hand: temporal (.*)$/.exec(found?.fix ?? '')?.[1] ?? '';
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
    const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
    await promisify(execFile)(binary, words);
    // Its first update was applied again, and the workflow answers.
    expect(await handle.executeUpdate<number, []>('note')).toBe(2);
  });
});
