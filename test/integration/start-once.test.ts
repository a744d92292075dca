// The start of a job on a real Temporal server: once, also when several replicas try, and readable for operators.
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startOf } from '../../contracts/start.ts';
import { createTemporalPort, temporalClientOptions } from '../../services/temporal-port.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  // No activity of these is ever called.
  const unused = { unused: () => Promise.resolve(null) };
  temporal = await startTemporal({ control: unused, instances: unused });
});
afterAll(() => temporal.stop());

const subject = { kind: 'job', number: 7, workspace: 'lab', name: 'nightly', user: 'ada' } as const;
const startFor = (admissionId: string) =>
  startOf({ ...subject, admissionId, specRef: 'specs/none', privateToCreator: false }, 'd_1');

it('of many starts one succeeds, and every other learns which admission has the id', async () => {
  const port = createTemporalPort(temporal.client, async () => undefined);
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => port.start(startFor('adm_first'))));
  expect(outcomes.filter(({ kind }) => kind === 'started')).toHaveLength(1);
  expect(outcomes.filter(({ kind }) => kind === 'exists')).toEqual(
    Array.from({ length: 7 }, () => ({ kind: 'exists', admissionId: 'adm_first' })),
  );
  expect(await port.start(startFor('adm_other'))).toEqual({ kind: 'exists', admissionId: 'adm_first' });

  const handle = temporal.client.workflow.getHandle('job/7');
  const { memo, taskQueue, typedSearchAttributes, staticSummary, staticDetails } = await describeAll(handle);
  expect(memo).toEqual({ admissionId: 'adm_first', name: 'nightly', kind: 'job', owner: 'ada' });
  expect([taskQueue, staticSummary]).toEqual(['ropewalk', 'Job 7: nightly']);
  expect(staticDetails).toContain('Submitted by **ada** in workspace **lab**');
  expect(JSON.stringify(typedSearchAttributes)).toContain('"lab"');

  // Also after its end.
  await handle.terminate();
  expect(await port.start(startFor('adm_first'))).toEqual({ kind: 'exists', admissionId: 'adm_first' });
});

async function describeAll(handle: ReturnType<Client['workflow']['getHandle']>) {
  const { memo, taskQueue, typedSearchAttributes, ...described } = await handle.describe();
  const [staticSummary, staticDetails] = [await described.staticSummary(), await described.staticDetails()];
  return { memo, taskQueue, typedSearchAttributes, staticSummary, staticDetails };
}

it('is unavailable, soon, without a server', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1' });
  const port = createTemporalPort(new Client({ connection, ...temporalClientOptions }), async () => undefined);
  try {
    await expect(port.start(startFor('adm_late'))).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    expect(await port.isReachable()).toBe(false);
  } finally {
    await connection.close();
  }
});
