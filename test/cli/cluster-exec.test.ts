// `ropewalk cluster exec`: the command's environment and files, its output and exit code, and the removal of the key.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { aCluster, anError, startStandIn } from '../sdk/stand-in-api.ts';
import type { ReceivedRequest, Reply, StandIn } from '../sdk/stand-in-api.ts';
import { binFile, runCli, startCli, withDirectory } from './run-cli.ts';
import type { RunningCli } from './run-cli.ts';

const open: StandIn[] = [];
const running: RunningCli[] = [];
afterEach(async () => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
  await Promise.all(open.splice(0).map((api) => api.close()));
});

const credentials = {
  schedulerAddress: 'tls://127.0.0.1:8786',
  ca: 'the authority\n',
  certificate: 'the certificate\n',
  key: 'the topsecret key\n',
  expiresAt: '2026-01-01T00:00:00.000Z',
  environment: environment(),
};
const ready = ({ path }: ReceivedRequest): Reply => ({
  json: path.endsWith('/credentials') ? credentials : aCluster(),
});

interface Fixture {
  api: StandIn;
  /** Contains only the program's own files. */
  temporary: string;
  options: { env: Record<string, string>; cwd: string };
  /** Writes a script into the current directory and returns the words that run it. */
  script: (text: string) => Promise<string[]>;
}

async function withFixture(
  use: (fixture: Fixture) => Promise<void>,
  reply: (request: ReceivedRequest, nth: number) => Reply = ready,
) {
  const api = await startStandIn(reply);
  open.push(api);
  await withDirectory((cwd) =>
    withDirectory(async (temporary) => {
      const env = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_default_abc-x', TMPDIR: temporary, MINE: 'kept' };
      const script = async (text: string): Promise<string[]> => {
        await writeFile(join(cwd, 'script.mjs'), text);
        return ['cluster', 'exec', '7', '--', process.execPath, 'script.mjs'];
      };
      await use({ api, temporary, options: { env, cwd }, script });
    }),
  );
}

describe('cluster exec', () => {
  it('passes the address and files that only this user can read, and removes the files', async () => {
    await withFixture(async ({ temporary, options, script }) => {
      const words = await script(`
        import { readFileSync, statSync } from 'node:fs';
        import { dirname } from 'node:path';
        const tls = 'DASK_DISTRIBUTED__COMM__TLS__';
        const { env, argv } = process;
        const files = ['CA_FILE', 'CLIENT__CERT', 'CLIENT__KEY'].map((name) => env[tls + name]);
        const mode = (path) => (statSync(path).mode & 0o777).toString(8);
        console.log(JSON.stringify({
          argv: argv.slice(2),
          address: env.DASK_SCHEDULER_ADDRESS,
          encryption: env.DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION,
          mine: env.MINE,
          contents: files.map((path) => readFileSync(path, 'utf8')),
          modes: [...files.map(mode), mode(dirname(files[0]))],
          secretInEnvironment: JSON.stringify(env).includes('topsecret'),
          directory: dirname(files[0]),
        }));
      `);
      const { code, stdout, stderr } = await runCli([...words, '--fast', '--', '-x', 'a b'], options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const printed: Record<string, unknown> = JSON.parse(stdout);
      expect(printed).toEqual({
        argv: ['--fast', '--', '-x', 'a b'],
        address: 'tls://127.0.0.1:8786',
        encryption: 'True',
        mine: 'kept',
        contents: [credentials.ca, credentials.certificate, credentials.key],
        modes: ['600', '600', '600', '700'],
        secretInEnvironment: false,
        directory: expect.stringContaining(join(temporary, 'ropewalk-exec-')),
      });
      expect(await readdir(temporary)).toEqual([]);
    });
  });

  it('passes stdin, stdout, stderr and the exit code through', async () => {
    await withFixture(async ({ temporary, options, script }) => {
      const words = await script(`
        for await (const chunk of process.stdin) process.stdout.write(String(chunk).toUpperCase());
        process.stderr.write('no line end');
        process.exitCode = 41;
      `);
      const result = await runCli(words, { ...options, input: 'hello\u001b[1m\n' });
      expect(result).toEqual({ code: 41, stdout: 'HELLO\u001b[1M\n', stderr: 'no line end' });
      expect(await readdir(temporary)).toEqual([]);
    });
  });

  it.each([
    ['SIGINT', 'directly'],
    ['SIGTERM', 'directly'],
    ['SIGHUP', 'directly'],
    ['SIGINT', 'by bin/ropewalk.mjs'],
  ] as const)('passes %s on, %s, and cleans up when the command has ended', async (signal, how) => {
    await withFixture(async ({ temporary, options, script }) => {
      const words = await script(`
        import { existsSync } from 'node:fs';
        let times = 0;
        process.on(${JSON.stringify(signal)}, () => {
          times += 1;
          // The file is still there while the command ends in its own time.
          if (times === 1) setTimeout(() => {
            console.log('ended', times, existsSync(process.env.DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY));
            process.exit(3);
          }, 50);
        });
        setInterval(() => undefined, 1_000);
        console.log('running', process.pid);
      `);
      const argv: [string, string] | undefined = how === 'directly' ? undefined : [process.execPath, binFile];
      const cli = startCli(words, { ...options, ...(argv && { argv }) });
      running.push(cli);
      await expect.poll(cli.stdout, { timeout: 20_000 }).toContain('running');
      expect(await readdir(temporary)).toHaveLength(1);
      cli.child.kill(signal);
      const { code, stdout } = await cli.result;
      expect(stdout).toMatch(/running \d+\nended 1 true\n/);
      expect(code).toBe(3);
      expect(await readdir(temporary)).toEqual([]);
    });
  });

  it('returns the exit codes of shells for a signal, a missing program, and a file that is not executable', async () => {
    await withFixture(async ({ temporary, options, script }) => {
      const words = await script(`process.kill(process.pid, 'SIGKILL');`);
      expect(await runCli(words, options)).toMatchObject({ code: 137 });
      const missing = await runCli(['cluster', 'exec', '7', '--', 'no-such-program'], options);
      expect(missing).toEqual({
        code: 127,
        stdout: '',
        stderr: 'error: cannot run no-such-program: program not found\n',
      });
      expect(await runCli(['cluster', 'exec', '7', '--', join(options.cwd, 'script.mjs')], options)).toMatchObject({
        code: 126,
        stderr: expect.stringContaining('EACCES'),
      });
      expect(await readdir(temporary)).toEqual([]);
    });
  });

  it('accepts a command without --, and requires one', async () => {
    await withFixture(async ({ api, options }) => {
      const print = [process.execPath, '-p', '"hello " + process.env.DASK_SCHEDULER_ADDRESS'];
      for (const words of [
        ['7', ...print],
        ['7', '--', ...print],
        ['--', '7', ...print],
      ]) {
        const result = await runCli(['cluster', 'exec', ...words], options);
        expect(result).toEqual({ code: 0, stdout: 'hello tls://127.0.0.1:8786\n', stderr: '' });
      }
      const before = api.requests.length;
      for (const words of [['7'], ['7', '--']]) {
        expect(await runCli(['cluster', 'exec', ...words], options)).toMatchObject({ code: 2 });
      }
      expect(api.requests).toHaveLength(before);
    });
  });

  it('waits for the scheduler, with progress', async () => {
    const none = aCluster({ status: 'starting', dask: { schedulerAddress: null, workersStarted: 0 } });
    await withFixture(
      async ({ options, script }) => {
        const result = await runCli(await script('console.log("ran")'), options);
        expect(result).toMatchObject({ code: 0, stdout: 'ran\n' });
        expect(result.stderr).toBe('Cluster 7 (blue) starting: 0 / 2 workers, scheduler started\n');
      },
      (request, nth) => (nth < 3 ? { json: none } : ready(request)),
    );
  });

  it.each([
    ['an ended cluster', () => ({ json: aCluster({ status: 'stopped' }) }), 'cluster 7 has ended'],
    ['the cluster of a job', () => ({ json: aCluster({ job: 7, dask: null }) }), 'it has no Dask'],
    [
      "another user's private cluster",
      ({ path }: ReceivedRequest) =>
        path.endsWith('/credentials')
          ? anError(403, { code: 'FORBIDDEN', message: 'cluster 7 is private to ada' })
          : { json: aCluster() },
      'cluster 7 is private to ada',
    ],
  ])('runs nothing on %s', async (_, reply, message) => {
    await withFixture(async ({ temporary, options, script }) => {
      const marker = join(options.cwd, 'ran');
      const words = await script(`import { writeFileSync } from 'node:fs'; writeFileSync('ran', '');`);
      const result = await runCli(words, options);
      expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
      await expect(readFile(marker)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await readdir(temporary)).toEqual([]);
    }, reply);
  });
});
