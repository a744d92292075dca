import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, describe, expect, it } from 'vitest';

import { version } from '../../cli/version.ts';
import { aJob, anError, startStandIn } from '../sdk/stand-in-api.ts';
import type { StandIn } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { binFile, runCli, startCli, withDirectory } from './run-cli.ts';

const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

async function standIn(name: string): Promise<StandIn> {
  const api = await startStandIn(() => ({ json: aJob({ name }) }));
  open.push(api);
  return api;
}

const status = ['batch', 'status', '12', '--format', 'json'];

describe('the address of the API and the token', () => {
  it('come from flag, environment and file in this order, each on its own', async () => {
    const [flag, env, file] = await Promise.all([standIn('flag'), standIn('env'), standIn('file')]);
    await withDirectory(async (home) => {
      await writeFile(join(home, 'config.yaml'), `apiUrl: ${file.url}\ntoken: rw_file\nworkspace: default\n`);
      await writeFile(join(home, 'token'), 'rw_flag\n');
      const fromFile = { ROPEWALK_HOME: home };
      const fromEnv = { ...fromFile, ROPEWALK_API_URL: env.url, ROPEWALK_TOKEN: 'rw_env' };
      const ask = async (words: string[], environment: Record<string, string>): Promise<unknown> => {
        const { stdout } = await callCli([...status, ...words], { env: environment });
        const sent = [flag, env, file]
          .flatMap(({ requests }) => requests.splice(0))
          .map(({ headers }) => headers.authorization);
        return [JSON.parse(stdout).name, ...sent];
      };
      expect(await ask([], fromFile)).toEqual(['file', 'Bearer rw_file']);
      expect(await ask([], fromEnv)).toEqual(['env', 'Bearer rw_env']);
      expect(await ask([], { ...fromFile, ROPEWALK_API_URL: env.url })).toEqual(['env', 'Bearer rw_file']);
      expect(await ask([], { ...fromFile, ROPEWALK_API_URL: '', ROPEWALK_TOKEN: '' })).toEqual([
        'file',
        'Bearer rw_file',
      ]);
      expect(await ask(['--api-url', flag.url], fromEnv)).toEqual(['flag', 'Bearer rw_env']);
      expect(await ask(['--token-file', join(home, 'token')], fromEnv)).toEqual(['env', 'Bearer rw_flag']);
    });
  });

  it.each([
    ['apiUrl: http://127.0.0.1:1\n', /the token is not set\n {2}how to fix: Set ROPEWALK_TOKEN/],
    ['token: rw_topsecret\n', /the address of the API is not set/],
    ['apiUrl: ftp://x\ntoken: rw_topsecret\n', /not an http or https URL: ftp:\/\/x/],
    ['token: [rw_topsecret\n', /config.yaml is not a valid configuration: it is not YAML/],
    ['- rw_topsecret\n', /config.yaml is not a valid configuration: it is not a map of settings/],
    ['apiUrl: 12\ntoken: rw_topsecret\n', /config.yaml is not a valid configuration: apiUrl is not a string/],
    ['', /the address of the API is not set/],
  ])('are explained when they are missing or invalid, and the token is never shown: %j', async (text, message) => {
    await withDirectory(async (home) => {
      await writeFile(join(home, 'config.yaml'), text);
      const { code, stdout, stderr } = await callCli(status, { env: { ROPEWALK_HOME: home } });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain('topsecret');
    });
  });

  it('do not need the file when flags and environment have both', async () => {
    const api = await standIn('env');
    await withDirectory(async (home) => {
      await writeFile(join(home, 'config.yaml'), '[broken');
      const env = { ROPEWALK_HOME: home, ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_env' };
      expect(await callCli(status, { env })).toMatchObject({ code: 0, stderr: '' });
    });
  });

  it('are named when no server answers', async () => {
    const api = await startStandIn(() => ({}));
    await api.close();
    const { code, stderr } = await callCli(status, {
      env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_topsecret' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`error: cannot reach the Ropewalk API at ${api.url}`);
    expect(stderr).toContain('how to fix: Check the address');
    expect(stderr).not.toContain('topsecret');
  });

  it('fails with 1 when the token is refused', async () => {
    const api = await startStandIn(() => anError(401, { code: 'UNAUTHENTICATED', message: 'the token is not valid' }));
    open.push(api);
    const env = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_topsecret' };
    expect(await callCli(status, { env })).toMatchObject({ code: 1, stderr: expect.stringContaining('not valid') });
  });
});

describe('bin/ropewalk.mjs', () => {
  it('prints the version of the package', async () => {
    const manifest: unknown = JSON.parse(await readFile(join(binFile, '../../package.json'), 'utf8'));
    expect(manifest).toMatchObject({ version });
    expect(await runCli(['--version'], { argv: [process.execPath, binFile] })).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
    });
  });

  it('passes arguments, exit codes and signals on, also from an older Node', async () => {
    const node = await oldestNode();
    const api = await startStandIn(() => ({ json: aJob({ status: 'running', endedAt: null }) }));
    open.push(api);
    const env = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_env' };
    expect(await runCli(['batch', 'nonsense'], { argv: [node, binFile] })).toMatchObject({ code: 2 });
    const cli = startCli(['batch', 'wait', '12'], { argv: [node, binFile], env });
    try {
      await expect.poll(cli.stderr, { timeout: 20_000 }).toContain('Job 12 running');
      cli.child.kill('SIGINT');
      expect(await cli.result).toMatchObject({ code: 130, stderr: expect.stringContaining('ropewalk batch wait 12') });
    } finally {
      cli.child.kill('SIGTERM');
    }
  });
});

/** The oldest Node on the path from 20 on, which may be this one: the wrapper must behave the same on each. */
async function oldestNode(): Promise<string> {
  let oldest = { program: process.execPath, major: Number(process.versions.node.split('.')[0]) };
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const program = join(directory, 'node');
    const major = await promisify(execFile)(program, ['-p', 'process.versions.node.split(".")[0]']).then(
      ({ stdout }) => Number(stdout),
      () => Number.NaN,
    );
    if (major >= 20 && major < oldest.major) oldest = { program, major };
  }
  return oldest.program;
}
