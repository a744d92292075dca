// Jobs that a host has no room for yet: they are admitted, shown, and start in order.
import { expect, it } from 'vitest';

import { maxOpenOnHost } from '../../domain/admission/limits.ts';
import { createTestApi, endedView } from './support.ts';

it('jobs beyond the room of a host wait in order, say so, and start when others have ended', async () => {
  const api = await createTestApi({ maxOpenOnHost: 2 });
  const numbers = [await api.submit({}), await api.submit({}), await api.submit({}), await api.submit({})];
  expect(api.workflows.starts).toEqual(['job/1', 'job/2']);
  const read = async (number: number) => (await api.call('GET', `/v1/jobs/${number}`)).json();
  expect(await read(3)).toMatchObject({ status: 'pending', reason: { code: 'WAITING_FOR_HOST' } });
  expect(await read(2)).not.toMatchObject({ reason: { code: 'WAITING_FOR_HOST' } });
  await api.deps.starter.round();
  expect(api.workflows.starts).toHaveLength(2);
  await api.workflows.endJob(endedView(api, 1));
  await api.deps.starter.round();
  expect(api.workflows.starts).toEqual(['job/1', 'job/2', 'job/3']);
  expect(numbers).toEqual([1, 2, 3, 4]);
});

it('a host starts as many as it has instances, and a quarter more', () => {
  expect([1, 16, 32].map(maxOpenOnHost)).toEqual([2, 20, 40]);
});
