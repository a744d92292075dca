// `ropewalk batch schedule`.
import { expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import { callCli } from './call-cli.ts';

const at = '2026-01-01T03:00:00.000Z';
const schedule = {
  ...{ name: 'nightly', cron: '0 3 * * *', timezone: 'UTC', overlap: 'skip', state: 'active', reason: null },
  ...{ command: 'true', user: 'ada', lastJob: 7, createdAt: at },
};

async function run(words: string[], json: unknown = schedule) {
  const api = await openStandIn(() => ({ status: 200, json }));
  const env = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token };
  const result = await callCli(['batch', 'schedule', ...words], { env });
  return { ...result, request: api.requests[0] };
}

it.each([[[]], [['create']]])('creates: options and command of the job come after -- (%j)', async (verb) => {
  const own = ['--cron', '0 3 * * *', '--timezone', 'Europe/Berlin', '--overlap', 'queue', 'nightly'];
  const job = ['--ntasks', '3', '-e', 'A=1', 'python3', 'work.py', '--fast'];
  const { code, stdout, request } = await run([...verb, ...own, '--', ...job]);
  expect([code, stdout]).toEqual([0, 'Schedule nightly runs true at 0 3 * * * (UTC)\n']);
  expect(request).toMatchObject({ method: 'POST', path: '/v1/schedules' });
  expect(request?.body).toEqual({
    ...{ name: 'nightly', cron: '0 3 * * *', timezone: 'Europe/Berlin', overlap: 'queue' },
    job: { command: ['python3', 'work.py', '--fast'], ntasks: 3, env: { A: '1' } },
  });
});

it('refuses bad options of the job, and a schedule without a job', async () => {
  const bad = await run(['--cron', '@daily', 'nightly', '--', '--ntasks', 'three', 'true']);
  expect([bad.code, bad.request]).toEqual([2, undefined]);
  expect(bad.stderr).toContain('--ntasks');
  expect((await run(['--cron', '@daily', 'nightly'])).code).toBe(2);
});

it('lists, shows, pauses, resumes, triggers and deletes', async () => {
  expect((await run(['list'], { items: [schedule] })).stdout).toMatch(/nightly .*active .*0 3 \* \* \* .*7/);
  const details = { ...schedule, nextRuns: [at], runs: [{ at, state: 'skipped', job: null, text: 'Job 6 runs.' }] };
  const shown = await run(['show', 'nightly'], details);
  expect(shown.stdout).toContain('nightly: active');
  expect(shown.stdout).toMatch(/skipped .*Job 6 runs\./);
  for (const verb of ['pause', 'resume', 'trigger']) {
    expect((await run([verb, 'nightly'])).request).toMatchObject({
      method: 'POST',
      path: `/v1/schedules/nightly/${verb}`,
    });
  }
  expect((await run(['delete', 'nightly'])).request).toMatchObject({ method: 'DELETE', path: '/v1/schedules/nightly' });
});
