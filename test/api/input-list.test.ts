// A job that is mapped over a list in the object store.
import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { createTestApi, type TestApi } from './support.ts';

// The test API sends bodies as JSON: one line, and no more.
const line = { A: '1' };
const bytes = Buffer.from(JSON.stringify(line));
const list = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length, count: 1 };

const submit = (api: TestApi, mapOver: object, more: object = {}) =>
  api.call('POST', '/v1/jobs', { body: { command: ['x'], mapOver, ...more } });

it('has a task for each line, and its instances get the list by its SHA-256', async () => {
  const api = await createTestApi();
  const missing = await submit(api, { list });
  expect([missing.status, (await missing.json()).error]).toMatchObject([422, { field: 'mapOver.list' }]);
  expect((await api.call('PUT', `/v1/file-blobs/${list.sha256}`, { body: line })).status).toBe(204);
  const wrong = await submit(api, { list: { ...list, bytes: 3 } });
  expect((await wrong.json()).error.field).toBe('mapOver.list');
  const created = await submit(api, { list, inputVar: 'FILE' });
  expect(created.status).toBe(201);
  const { number } = await created.json();
  expect(api.workflows.jobs.get(number)?.settings.taskCount).toBe(1);
  const key = api.objects.keys().findLast((each) => each.startsWith('vault/')) ?? '';
  const bundle = JSON.parse(Buffer.from((await api.vault.open(key)) ?? []).toString());
  const names = ['COILED_BATCH_TASK_INPUT', 'ROPEWALK_BATCH_TASK_INPUT', 'FILE'];
  expect(bundle.inputs).toEqual({ names, list, chosen: null });
});

it.each([
  ['more tasks than a job can have', { list: { ...list, count: 1_000_001 } }, 'mapOver'],
  ['a list that is too large', { list: { ...list, bytes: 256 * 1024 ** 2 + 1 } }, 'mapOver.list.bytes'],
  ['values too', { list, values: 'a' }, 'mapOver'],
])('is refused with %s', async (_, mapOver, field) => {
  const refused = await submit(await createTestApi(), mapOver);
  expect([refused.status, (await refused.json()).error.field]).toEqual([422, field]);
});
