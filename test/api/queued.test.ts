// Jobs that exceed a host's free capacity: they are admitted, shown, and start in order.
import { expect, it, vi } from 'vitest';

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

it('a job that waits for its host ends at once when it is cancelled, and is never started', async () => {
  const api = await createTestApi({ maxOpenOnHost: 1 });
  const [first, second, third] = [await api.submit({}), await api.submit({}), await api.submit({})];
  const cancelled = await api.call('POST', `/v1/jobs/${second}/cancel`);
  expect(await cancelled.json()).toMatchObject({
    ...{ number: second, status: 'cancelled' },
    reason: { code: 'CANCELLED', text: 'Cancelled by ada.' },
  });
  expect((await api.usage()).running).toBe(2);
  await api.workflows.endJob(endedView(api, first));
  await api.work();
  expect(api.workflows.starts).toEqual([`job/${first}`, `job/${third}`]);
});

it('a cluster that waits for its host ends at once when it is stopped', async () => {
  const api = await createTestApi({ maxOpenOnHost: 1 });
  await api.submit({});
  const number = await api.startCluster();
  const stopped = await api.call('POST', `/v1/clusters/${number}/stop`);
  expect(await stopped.json()).toMatchObject({ status: 'stopped', reason: { code: 'STOPPED' } });
  expect(api.workflows.starts).toEqual(['job/1']);
});

it('a cancel that was stored while Temporal was unavailable ends a job that still waits', async () => {
  const api = await createTestApi({ maxOpenOnHost: 1 });
  const [first, second] = [await api.submit({}), await api.submit({})];
  api.workflows.control.isUnavailable = true;
  expect(await (await api.call('POST', `/v1/jobs/${second}/cancel`)).json()).toMatchObject({ acceptedForLater: true });
  api.workflows.control.isUnavailable = false;
  await api.work();
  expect(await (await api.call('GET', `/v1/jobs/${second}`)).json()).toMatchObject({ status: 'cancelled' });
  expect(await api.store.commands.list(10)).toEqual([]);
  expect(api.workflows.starts).toEqual([`job/${first}`]);
});

it('answers at once for a job that waits for its host, without the moment in which a start may succeed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const api = await createTestApi({ maxOpenOnHost: 1 });
    // With frozen timers, an answer that waited for one would never come.
    expect(await api.submit({})).toBe(1);
    expect(await Promise.all([api.submit({}), api.submit({})])).toEqual([2, 3]);
  } finally {
    vi.useRealTimers();
  }
});

it('a host starts as many as it has instances, and a quarter more', () => {
  expect([1, 16, 32].map(maxOpenOnHost)).toEqual([2, 20, 40]);
});
