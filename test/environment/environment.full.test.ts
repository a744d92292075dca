// Real environments, built by the real uv from the real index: complete or absent, and built once.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import type { Environment, EnvironmentRequest } from '../../agent/runtimes/environment/request.ts';
import { eventually } from '../support/eventually.ts';

const run = promisify(execFile);
const small = ['toolz==1.1.0', 'zict==3.0.0'];

let cacheDir: string;
beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'ropewalk-environment-'));
});
afterAll(() => rm(cacheDir, { recursive: true, force: true, maxRetries: 5 }));

const ensure = (request: Partial<EnvironmentRequest> = {}): Promise<Environment> =>
  ensureEnvironment({ cacheDir, requirements: small, pythonPath: 'python3', environment: process.env, ...request });

const inDirectory = (name: string): Promise<string[]> => readdir(join(cacheDir, name)).catch(() => []);

describe('the default environment', () => {
  it('runs Dask, is compiled, and is found again', async () => {
    const begun: string[] = [];
    const made = await ensure({ requirements: defaultRequirements, onStage: (name) => begun.push(name) });
    expect(made.reused).toBe(false);
    expect(begun).toEqual(['tools', 'install', 'compile', 'ready']);
    expect(made.stages.map(({ name }) => name)).toEqual(begun);
    const program =
      'import bokeh, dask, distributed; print(dask.__version__, distributed.Client.__init__.__code__.co_filename)';
    const { stdout } = await run(made.pythonPath, ['-c', program]);
    const site = join(made.directory, 'lib', /python3\.\d+/.exec(await libOf(made))?.[0] ?? '', 'site-packages');
    expect(stdout.trim()).toBe(`2026.8.0 ${join(site, 'distributed', 'client.py')}`);
    expect(await readdir(join(site, 'distributed', '__pycache__'))).toContainEqual(
      expect.stringMatching(/^client\..*\.pyc$/),
    );
    // The scripts work too: they find their interpreter wherever the directory is.
    expect((await run(join(made.directory, 'bin', 'dask'), ['--version'])).stdout).toContain('2026.8.0');

    const mixed = [...defaultRequirements].reverse().map((one) => ` ${one.replace('==', ' == ').toUpperCase()}`);
    const again = await ensure({ requirements: mixed.map((one) => one.replace('PROMETHEUS-', 'Prometheus_')) });
    expect(again).toMatchObject({ directory: made.directory, hash: made.hash, reused: true });
    expect(again.stages.map(({ name }) => name)).toEqual(['ready']);
    expect(await inDirectory('building')).toEqual([]);
  });
});

describe('two builders', () => {
  it('in two processes make it once', async () => {
    const requirements = [...small, 'locket==1.0.0'];
    const builders = [startBuilder(requirements), startBuilder(requirements)];
    const [one, other] = await Promise.all(builders.map((builder) => builder.made()));
    expect(one?.directory).toBe(other?.directory);
    expect(one?.reused).toBe(other?.reused === false);
    await run(one?.pythonPath ?? '', ['-c', 'import toolz, zict, locket']);
    expect(await inDirectory('building')).toEqual([]);
  });

  it('on a machine that has no uv yet both get it', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'ropewalk-environment-'));
    try {
      const of = (requirements: string[]): Promise<Environment> => ensure({ cacheDir: fresh, requirements });
      const [one, other] = await Promise.all([of(['toolz==1.1.0']), of(['zict==3.0.0'])]);
      expect([one.reused, other.reused]).toEqual([false, false]);
      expect(await readdir(join(fresh, 'tools'))).toHaveLength(1);
    } finally {
      await rm(fresh, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});

describe('a builder that is killed', () => {
  it.each([
    // Held there until it is killed.
    { stage: 'install', hold: true, requirements: [...small, 'cloudpickle==3.1.1'] },
    { stage: 'compile', hold: true, requirements: [...small, 'cloudpickle==3.1.2'] },
    // Killed while it works; its programs work on without it.
    { stage: 'compile', hold: false, requirements: [...defaultRequirements, 'cloudpickle==3.1.2'] },
  ])('in the stage $stage leaves nothing that looks finished', async ({ stage, hold, requirements }) => {
    const killed = startBuilder(requirements, hold ? stage : '');
    await killed.stage(stage);
    killed.kill();
    await killed.ended;
    const left = await inDirectory('building');
    expect(left).toContainEqual(expect.stringMatching(/\.lock$/));
    const before = await inDirectory('environments');

    const made = await ensure({ requirements });
    expect(before).not.toContain(made.hash);
    expect(made.reused).toBe(false);
    await run(made.pythonPath, ['-c', 'import toolz, cloudpickle']);
    // The next builds remove its files, at the latest after its orphaned programs have ended.
    await eventually(async () => {
      await ensure({ requirements: [`toolz==1.1.0 ; "${Date.now()}" != ""`] });
      return (await inDirectory('building')).length === 0;
    });
  });
});

describe('an environment whose interpreter has gone', () => {
  it('is built again', async () => {
    const made = await ensure();
    await unlink(made.pythonPath);
    await symlink(join(cacheDir, 'no-such-python'), made.pythonPath);
    const again = await ensure();
    expect(again).toMatchObject({ directory: made.directory, reused: false });
    await run(again.pythonPath, ['-c', 'import toolz']);
  });
});

describe('a requirement that cannot be installed', () => {
  it('is named, with what uv says', async () => {
    await expect(ensure({ requirements: ['toolz==1.1.0', 'Zict==9999'] })).rejects.toMatchObject({
      code: 'REQUIREMENT',
      requirements: ['zict==9999'],
      message: expect.stringMatching(/^"zict==9999" cannot be installed\. uv says:\n[^]*no version of zict==9999/),
    });
    expect(await inDirectory('building')).toEqual([]);
  });

  it('is an error of the installation, not of the requirement, when the package index does not answer', async () => {
    const environment = { ...process.env, UV_DEFAULT_INDEX: 'http://127.0.0.1:9/simple', UV_HTTP_RETRIES: '0' };
    await expect(ensure({ requirements: ['locket==0.2.1'], environment })).rejects.toMatchObject({ code: 'INSTALL' });
  });

  it.each([
    ['an option', '--index-url=http://127.0.0.1'],
    ['a path', './package'],
    ['two lines', 'toolz\nzict'],
    ['a variable', 'toolz @ https://localhost/${HOME}'],
    ['nothing', ' '],
  ])('is refused before anything runs: %s', async (_what, requirement) => {
    await expect(
      ensure({ requirements: ['toolz==1.1.0', requirement], pythonPath: '/nonexistent' }),
    ).rejects.toMatchObject({ code: 'REQUIREMENT', message: expect.stringMatching(/^requirements\[1\] is /) });
  });

  it('hides a password', async () => {
    const failed = ensure({ requirements: ['-x https://me:hunter2@localhost/x'] });
    await expect(failed).rejects.toThrow(/https:\/\/\[secret\]@localhost/);
  });

  it('is a Python that is missing or too old', async () => {
    await expect(ensure({ pythonPath: '/nonexistent/python3' })).rejects.toMatchObject({
      code: 'PYTHON',
      message: expect.stringMatching(/No Python can be run as \/nonexistent\/python3.*ENOENT/),
    });
    const old = join(cacheDir, 'old-python');
    await writeFile(old, '#!/bin/sh\nprintf "3.9.18\\n/usr/bin/python3.9\\ncpython linux x\\n"\n', { mode: 0o700 });
    await expect(ensure({ pythonPath: old })).rejects.toMatchObject({
      code: 'PYTHON',
      message: expect.stringContaining(`Python 3.10 or later is needed, and ${old} is 3.9.18`),
    });
  });

  it('is not waited for when the caller gives up', async () => {
    const giveUp = new AbortController();
    const why = new Error('the instance has been terminated');
    const requirements = [...small, 'sortedcontainers==2.4.0'];
    const onStage = (name: string): void => (name === 'install' ? giveUp.abort(why) : undefined);
    await expect(ensure({ requirements, signal: giveUp.signal, onStage })).rejects.toBe(why);
    expect(await ensure({ requirements })).toMatchObject({ reused: false });
  });
});

it('programs get only the variables of the agent that they need', async () => {
  const spy = join(cacheDir, 'spying-python');
  const seen = join(cacheDir, 'seen');
  await writeFile(spy, `#!/bin/sh\nenv > ${seen}\nexec python3 "$@"\n`, { mode: 0o700 });
  const environment = { ...process.env, ROPEWALK_INSTANCE: 'i_0000000001', ROPEWALK_TOKEN: 'hunter2' };
  await ensure({ pythonPath: spy, environment });
  const passed = await readFile(seen, 'utf8');
  expect(passed).toContain('ROPEWALK_INSTANCE=i_0000000001');
  expect(passed).not.toContain('hunter2');
});

const program = fileURLToPath(new URL('build-process.ts', import.meta.url));
const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

interface Builder {
  stage(name: string): Promise<void>;
  made(): Promise<Environment>;
  /** The builder alone: its children live on, as after a crash. */
  kill(): void;
  ended: Promise<unknown>;
}

function startBuilder(requirements: string[], holdAt = ''): Builder {
  const child = spawn(process.execPath, [program, cacheDir, 'python3', holdAt, ...requirements], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const find = (text: string): Promise<string> =>
    eventually(() => lines.find((line) => line.includes(text)), { timeoutMs: 60_000, intervalMs: 1 });
  stopping.push(async () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
    await ended;
  });
  return {
    stage: async (name) => void (await find(`"stage":"${name}"`)),
    made: async () => toEnvironment(JSON.parse(await find('"directory"'))),
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}

/** The last line of build-process.ts is ensureEnvironment's result. */
const toEnvironment = (printed: unknown): Environment => printed as Environment;

async function libOf({ directory }: Environment): Promise<string> {
  await access(join(directory, 'lib'));
  return (await readdir(join(directory, 'lib'))).join(' ');
}
