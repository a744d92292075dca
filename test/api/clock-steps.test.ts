// The API after its machine's clock is set back an hour.
import { expect, it } from 'vitest';

import { createTestApi } from './support.ts';

it('a revoked token and an old view are not kept for that hour', async () => {
  let monotonicMs = 0;
  const api = await createTestApi({ monotonicMs: () => monotonicMs });
  const number = await api.submit({ ntasks: 2 });
  const token = await api.addToken('default');
  const read = async (): Promise<[number, string | undefined]> => {
    const answer = await api.call('GET', `/v1/jobs/${number}`, { token });
    return [answer.status, (await answer.json()).status];
  };
  expect(await read()).toEqual([200, 'pending']);

  api.clock.offsetMs -= 3_600_000;
  monotonicMs += 2_000;
  const job = api.workflows.jobs.get(number);
  if (job === undefined) throw new Error('no job');
  job.cancelRequested = { code: 'CANCELLED', text: 'stop', atMs: 1 };
  job.outcome = { status: 'cancelled', reason: job.cancelRequested };
  expect(await read()).toEqual([200, 'cancelled']);

  monotonicMs += 2_000;
  await api.revoke(token);
  expect((await read())[0]).toBe(401);
});
