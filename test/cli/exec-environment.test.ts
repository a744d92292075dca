// The Python of a command of `cluster exec`. The environment and the Pythons on the PATH are shell scripts that print their
// names; test/integration/cli-exec.test.ts has real ones.
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { markerFile } from '../../agent/runtimes/environment/in-use.ts';
import { inspectPython } from '../../agent/runtimes/environment/python.ts';
import { environmentHash } from '../../agent/runtimes/environment/content.ts';
import { normaliseRequirements } from '../../agent/runtimes/environment/requirements.ts';
import { toolEnvironment } from '../../agent/runtimes/environment/run-tool.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import { environment as asked } from '../builders/environment.ts';
import { aCluster } from '../sdk/stand-in-api.ts';
import { runCli, withDirectory } from './run-cli.ts';
import type { CliResult } from './run-cli.ts';
import { standIn } from './stand-in.ts';

interface Scene {
  /** The version of distributed of the Python on the PATH. */
  distributed?: string | null;
  /** Of the cluster. */
  requirements?: string[] | null;
  /** The requirements of the finished environment on this machine; the cluster's unless given. */
  finished?: string[];
}

/** Runs `cluster exec` on a machine whose `python` prints "yours" and whose finished environment prints "cluster's". */
async function exec(
  words: string[],
  { distributed = null, requirements = pinned, finished }: Scene = {},
): Promise<CliResult> {
  const { env } = await standIn(({ path }) => ({
    json: path.endsWith('/credentials')
      ? { ...credentials, environment: requirements === null ? null : asked(requirements) }
      : aCluster(),
  }));
  return withDirectory(async (home) => {
    const programs = join(home, 'bin');
    await program(
      join(programs, 'python'),
      `case "$2" in *importlib*) ${distributed === null ? 'exit 1' : `echo ${distributed}`};; *) echo yours "$@";; esac`,
    );
    await environment(join(home, 'cache'), finished ?? requirements ?? []);
    const PATH = [programs, process.env['PATH']].join(delimiter);
    return runCli(['cluster', 'exec', ...words], { cwd: home, env: { ...env, ROPEWALK_HOME: home, PATH } });
  });
}

const pinned = ['distributed==2026.1.0'];
const credentials = { schedulerAddress: 'tls://127.0.0.1:1', ca: '', certificate: '', key: '', expiresAt: '' };

async function program(path: string, script: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** An environment with the marker of a finished one: nothing is installed. */
async function environment(cacheDir: string, requirements: readonly string[]): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const tools = { user: null, environment: toolEnvironment(process.env, cacheDir), cacheDir, signal: undefined };
  const hash = environmentHash(
    asked(normaliseRequirements(withDefaults(requirements))),
    await inspectPython(tools, 'python3'),
  );
  const directory = join(cacheDir, 'environments', hash);
  await program(join(directory, 'bin', 'python'), 'echo "cluster\'s" "$@" "${VIRTUAL_ENV##*/}"');
  await writeFile(join(directory, markerFile), JSON.stringify({ hash }));
}

describe('the Python of cluster exec', () => {
  it('imports nothing of the current directory when it is asked for its version of distributed', async () => {
    const { env } = await standIn(({ path }) => ({
      json: path.endsWith('/credentials') ? { ...credentials, environment: asked(pinned) } : aCluster(),
    }));
    await withDirectory(async (cwd) => {
      await environment(join(cwd, 'home', 'cache'), pinned);
      // importlib.metadata imports it.
      await writeFile(join(cwd, 'csv.py'), "open('ran', 'w')\n");
      const { stderr } = await runCli(['cluster', 'exec', '7', '--', 'python3', 'script.py'], {
        ...{ cwd, env: { ...env, ROPEWALK_HOME: join(cwd, 'home'), PATH: process.env['PATH'] ?? '' } },
      });
      expect(stderr).toContain('note: python3 has ');
      expect(await readdir(cwd)).not.toContain('ran');
    });
  });

  it("is the cluster's when the user's has no distributed, with one line on stderr", async () => {
    const { code, stdout, stderr } = await exec(['7', '--', 'python', 'script.py']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^cluster's script\.py [0-9a-f]{64}\n$/),
    });
    expect(stderr).toBe(
      "note: python has no distributed 2026.1.0; using the cluster's environment (--no-environment uses yours)\n",
    );
  });

  it("is the cluster's when the user's has another version", async () => {
    const { stdout, stderr } = await exec(['7', '--', 'python', '-c', 'pass'], { distributed: '2025.1.0' });
    expect(stdout).toMatch(/^cluster's -c pass/);
    expect(stderr).toContain('note: python has distributed 2025.1.0, the cluster 2026.1.0; using the cluster');
  });

  it.each([
    ['it has the same version', ['7', '--', 'python', 'x.py'], { distributed: '2026.1.0' }],
    ['--no-environment says so', ['--no-environment', '7', '--', 'python', 'x.py'], {}],
    [
      'the version is not pinned and it has one',
      ['7', '--', 'python', 'x.py'],
      { distributed: '1', requirements: ['dask'] },
    ],
    ['the cluster has no environment', ['7', '--', 'python', 'x.py'], { requirements: null }],
  ])("is the user's when %s, without a message", async (_, words, scene) => {
    expect(await exec(words, scene)).toEqual({ code: 0, stdout: 'yours x.py\n', stderr: '' });
  });

  it("is the user's for a command that does not begin with a Python on the PATH", async () => {
    expect(await exec(['7', '--', './bin/python', 'x.py'])).toEqual({ code: 0, stdout: 'yours x.py\n', stderr: '' });
    expect(await exec(['7', '--', 'sh', '-c', 'python x.py'])).toMatchObject({ stdout: 'yours x.py\n', stderr: '' });
  });

  it("is the cluster's for any command with --environment, without a message", async () => {
    const { code, stdout, stderr } = await exec(['--environment', '7', '--', 'sh', '-c', 'python x.py']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^cluster's x\.py/);
  });

  it.each([
    [['--environment', '7', '--', 'true'], { requirements: null }, 'the cluster has no Python environment of its own'],
    [['7', '--', 'python3.99', 'x.py'], {}, "the cluster's environment has no python3.99"],
    [
      ['--environment', '7', '--', 'true'],
      { requirements: ['not a requirement'], finished: [] },
      "cannot build the cluster's environment",
    ],
  ])("fails for %j with a hint when the cluster's cannot be used", async (words, scene, message) => {
    const { code, stdout, stderr } = await exec(words, scene);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`error: ${message}`);
    expect(stderr).toContain('how to fix: ');
  });
});
