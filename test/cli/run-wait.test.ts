// `ropewalk batch run --wait`, and Ctrl-C.
import { describe, expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import { aJob } from '../sdk/stand-in-api.ts';
import type { StandIn } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './run-cli.ts';

const created = { number: 12, name: 'job-12', existing: false, warnings: [] };
const running = aJob({ status: 'running', endedAt: null, tasks: { ...aJob().tasks, done: 3, running: 4 } });

const envOf = (api: StandIn): Record<string, string> => ({ ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token });

describe('batch run --wait', () => {
  it.each([
    ['done', 0, {}],
    ['error', 1, { done: 9, error: 1 }],
    ['cancelled', 1, { done: 9, cancelled: 1 }],
  ] as const)('ends with the outcome %s and exit code %d', async (status, exitCode, counts) => {
    const job = aJob({
      status,
      tasks: { ...aJob().tasks, ...counts },
      recentErrors:
        status === 'error' ? [{ task: 3, attempt: 1, text: 'exit code 7', at: '2024-11-18T17:26:00.000Z' }] : [],
    });
    const api = await openStandIn((request, nth) => ({
      json: request.method === 'POST' ? created : nth < 4 ? running : job,
    }));
    const { code, stdout, stderr } = await callCli(['batch', 'run', '--wait', 'true'], { env: envOf(api) });
    expect(code).toBe(exitCode);
    expect(stdout).toMatch(new RegExp(`^Job 12 ${status}: \\d+ / 10 done.* in 57.0 s\n$`));
    expect(stderr).toContain('Job 12 running: 3 / 10 done, 4 running\n');
    expect(stderr.split('Job 12 running').length).toBe(2);
    expect(stderr.includes('(Task 3) attempt 1: exit code 7')).toBe(status === 'error');
  });

  it('detaches on Ctrl-C, prints the command to wait again, and does not cancel the job', async () => {
    const api = await openStandIn(({ method }) => ({ json: method === 'POST' ? created : running }));
    const cli = startCli(['batch', 'run', '--wait', 'true'], { env: envOf(api) });
    try {
      await expect.poll(cli.stderr, { timeout: 20_000 }).toContain('Job 12 running');
      cli.child.kill('SIGINT');
      const { code, stdout, stderr } = await cli.result;
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
      expect(stderr).toContain('Detached: job 12 continues. To wait for it: ropewalk batch wait 12\n');
      expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    } finally {
      cli.child.kill('SIGKILL');
    }
  });

  it('says on Ctrl-C before the answer that the job may exist', async () => {
    const api = await openStandIn(() => ({ ending: 'hang' }));
    const cli = startCli(['batch', 'run', 'true'], { env: envOf(api) });
    try {
      await expect.poll(() => api.requests.length, { timeout: 20_000 }).toBe(1);
      cli.child.kill('SIGINT');
      expect(await cli.result).toMatchObject({ code: 130, stderr: expect.stringContaining('ropewalk batch list') });
    } finally {
      cli.child.kill('SIGKILL');
    }
  });
});
