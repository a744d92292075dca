// `ropewalk cluster create` as a user runs it: the real program against a real HTTP server that stands in for the API.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { Cluster } from '../../schema/clusters.ts';
import { aCluster, anInstance, aProcess } from '../sdk/stand-in-api.ts';
import type { ReceivedRequest, Reply } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { startCli, withDirectory } from './run-cli.ts';
import { standIn } from './stand-in.ts';

const created = { number: 7, name: 'blue', existing: false, warnings: ['workerOptions: no effect'] };
/** Creates, then shows one view after the other. */
const creating =
  (...views: Cluster[]) =>
  ({ method }: ReceivedRequest, nth: number): Reply =>
    method === 'POST' ? { status: 201, json: created } : { json: views[Math.min(nth - 1, views.length) - 1] };

const broken = { code: 'ENVIRONMENT_FAILED', text: 'no such package:\n  nonsense\u001b[2J', count: 3 };
const failures = [{ ...broken, lastAt: '2024-11-18T17:26:00.000Z' }];

describe('cluster create', () => {
  it('sends exactly the given options, and prints the next commands', async () => {
    await withDirectory(async (cwd) => {
      await writeFile(
        join(cwd, 'requirements.txt'),
        '# ours\npandas==2.3.1  # frames\n\nhttps://x.org/a.whl#sha256=00\n',
      );
      const { api, env } = await standIn(creating());
      const words = ['cluster', 'create', '--workers', '2', '--name', 'blue', '--new', '--keepalive', '5m'];
      words.push('--unresponsive-timeout', '30m');
      words.push('--requirements-file', 'requirements.txt', '--requirement', 'numpy', '-e', 'MODE=fast');
      words.push(
        '--secret-env',
        'KEY',
        '--worker-options',
        '{"nthreads":2}',
        '--private-to-creator',
        '--watchdog-timeout',
        '1h',
      );
      const result = await callCli(words, { cwd, env: { ...env, KEY: 'hidden' } });
      expect(result).toMatchObject({ code: 0, stdout: 'Cluster 7 (blue) is created\n' });
      expect(result.stderr).toContain('warning: workerOptions: no effect\n');
      expect(result.stderr).toContain('ropewalk cluster exec 7 -- python my_script.py\n');
      expect(api.requests[0]?.body).toEqual({
        workers: 2,
        name: 'blue',
        getOrCreate: false,
        software: { requirements: ['pandas==2.3.1', 'https://x.org/a.whl#sha256=00', 'numpy'] },
        env: { MODE: 'fast' },
        secretEnv: { KEY: 'hidden' },
        workerOptions: { nthreads: 2 },
        noClientTimeout: '5m',
        unresponsiveTimeout: '30m',
        watchdogTimeout: '1h',
        privateToCreator: true,
      });
      expect(api.requests).toHaveLength(1);
    });
  });

  it('needs no option, and prints JSON on request', async () => {
    const { api, env } = await standIn(creating());
    const { stdout } = await callCli(['cluster', 'create', '--format', 'json'], { env });
    expect(JSON.parse(stdout)).toEqual(created);
    expect(api.requests[0]?.body).toEqual({});
  });

  it('says who lets it start where it needs an approval', async () => {
    const { env } = await standIn(() => ({ status: 201, json: { ...created, needsApproval: 'It costs $9.' } }));
    const { stderr } = await callCli(['cluster', 'create'], { env });
    expect(stderr).toContain('ropewalk approve 7, by an admin');
    expect(stderr).not.toContain('cluster exec');
  });

  it('waits for all workers: progress on stderr, the cluster on stdout', async () => {
    const none = aCluster({
      status: 'starting',
      dask: { schedulerAddress: null, workersStarted: 0 },
      instances: [anInstance({ role: 'head', process: aProcess({ state: 'pending', stage: 'environment' }) })],
    });
    const one = aCluster({ status: 'starting', dask: { workersStarted: 1 } });
    const { env } = await standIn(creating(none, one, aCluster()));
    const { code, stdout, stderr } = await callCli(['cluster', 'create', '--wait'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Cluster 7 (blue) ready: 2 / 2 workers\n' });
    expect(stderr).toContain(
      'Cluster 7 (blue) is created\n' +
        'Cluster 7 (blue) starting: 0 / 2 workers, scheduler starting (environment)\n' +
        'Cluster 7 (blue) starting: 1 / 2 workers\n',
    );
  });

  it('says what it waits for, such as a quota of the account', async () => {
    const text = '1 of 2 instances are unavailable now; 1 x VcpuLimitExceeded: The account has reached its quota.';
    const at = '2024-11-18T17:25:08.000Z';
    const waitingForCapacity = { since: at, nextTry: at, until: null, missing: 1, text };
    const { env } = await standIn(creating(aCluster({ status: 'starting', waitingForCapacity }), aCluster()));
    const { stderr } = await callCli(['cluster', 'create', '--wait'], { env });
    expect(stderr).toContain(`waiting for capacity since 2024-11-18 17:25:08: ${text}`);
  });

  it('waits for a fraction of them, and prints why the others failed', async () => {
    const one = aCluster({ status: 'starting', failures, dask: { workersStarted: 1, workersErrored: 1 } });
    const { env } = await standIn(creating(one));
    const result = await callCli(['cluster', 'create', '--wait', '0.5', '--format', 'json'], { env });
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual(one);
    expect(result.stderr).toContain('  3 x ENVIRONMENT_FAILED: no such package:');
    expect(result.stderr).not.toContain('\u001b');
  });

  it('fails with the reasons when no worker starts, and when the wait times out', async () => {
    const failed = aCluster({ status: 'error', failures, dask: { workersStarted: 0 } });
    const one = await callCli(['cluster', 'create', '--wait'], await standIn(creating(failed)));
    expect(one).toMatchObject({ code: 1, stdout: '' });
    expect(one.stderr).toContain('error: cluster 7 has ended\n  3 x ENVIRONMENT_FAILED');
    expect(one.stderr).toContain('how to fix: See ropewalk cluster get 7');
    const starting = aCluster({ status: 'starting', dask: { workersStarted: 1 } });
    const words = ['cluster', 'create', '--wait', '--timeout', '0.3s'];
    const late = await callCli(words, await standIn(creating(starting)));
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('it is starting, with 1 of 2 workers') });
  });

  it('does not stop the cluster on Ctrl-C', async () => {
    const { api, env } = await standIn(creating(aCluster({ status: 'starting', dask: { workersStarted: 0 } })));
    const cli = startCli(['cluster', 'create', '--wait'], { env });
    await expect.poll(cli.stderr, { timeout: 20_000 }).toContain('0 / 2 workers');
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.result;
    expect(code).toBe(130);
    expect(stderr).toContain('cluster 7 continues. To see it: ropewalk cluster get 7');
    expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each([
    [['--wait', '1.5'], 'Give a number of workers'],
    [['--workers', 'many'], 'Give a number of workers'],
    [['--worker-options', '[1]'], 'Give a JSON object'],
    [['--worker-options', '{'], 'Give a JSON object'],
    [['--timeout', 'soon'], 'Give seconds'],
    [['--requirements-file', 'none.txt'], 'cannot read none.txt: ENOENT'],
  ])('refuses %j', async (words, message) => {
    const { api, env } = await standIn(creating());
    const result = await callCli(['cluster', 'create', ...words], { env });
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(api.requests).toEqual([]);
  });
});
