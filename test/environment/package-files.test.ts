// Environments with a user's own packages: real wheels, real modules, the real uv.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import type { Environment, EnvironmentRequest } from '../../agent/runtimes/environment/request.ts';
import { writeLeftOut } from '../../agent/runtimes/environment/left-out.ts';
import { environmentRuntime } from '../../agent/runtimes/environment/runtime.ts';
import type { PackageFile } from '../../schema/software.ts';
import { openPrivateIndex } from '../support/private-index.ts';

const run = promisify(execFile);
let cacheDir: string;
const content = new Map<string, Uint8Array>();
beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'ropewalk-package-files-'));
});
afterAll(() => rm(cacheDir, { recursive: true, force: true, maxRetries: 5 }));

const ensure = (request: Partial<EnvironmentRequest>): Promise<Environment> =>
  ensureEnvironment({
    ...{ cacheDir, requirements: [], pythonPath: 'python3', environment: process.env },
    fetchPackageFile: async ({ sha256 }) => content.get(sha256) ?? Promise.reject(new Error('no such file')),
    ...request,
  });

/** As commands of the runtime run. */
const say = async ({ pythonPath, directory, modules }: Environment, code: string): Promise<string> => {
  const { variables } = environmentRuntime({ directory, modules, leftOut: null, user: null });
  return (await run(pythonPath, ['-c', code], { env: variables(process.env, {}) })).stdout.trim();
};

const minorOf = (made: Environment): Promise<string> => say(made, 'import sys; print("%d.%d" % sys.version_info[:2])');

/** A zip file; environments require its SHA-256. */
async function file(name: string, files: Record<string, string>): Promise<PackageFile> {
  const path = join(cacheDir, name);
  const program = 'import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as archive:\n';
  const write = '  for name, text in json.loads(sys.argv[2]).items(): archive.writestr(name, text)';
  await run('python3', ['-c', program + write, path, JSON.stringify(files)]);
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  content.set(sha256, bytes);
  return { name, sha256 };
}

const wheel = (value: number, needs = 'toolz<1'): Promise<PackageFile> =>
  file('mine-1.0-py3-none-any.whl', {
    'mine.py': `value = ${value}\n`,
    'mine-1.0.dist-info/METADATA': `Metadata-Version: 2.1\nName: mine\nVersion: 1.0\nRequires-Dist: ${needs}\n`,
    'mine-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'mine-1.0.dist-info/RECORD': '',
  });

describe('package files', () => {
  it('are installed or importable, and another content is another environment', async () => {
    const modules = await file('modules.zip', { 'helpers.py': 'value = 7\n', 'toolz/__init__.py': 'value = "own"\n' });
    const stages: string[] = [];
    const request = { packageFiles: [await wheel(1, 'locket'), modules], onStage: (name: string) => stages.push(name) };
    const made = await ensure({ ...request, requirements: ['toolz==1.1.0'] });
    expect(stages).toEqual(['tools', 'download', 'install', 'compile', 'modules', 'ready']);
    // Beside a script, a module hides an installed package of the same name.
    expect(await say(made, 'import mine, helpers, toolz; print(mine.value, helpers.value, toolz.value)')).toBe(
      '1 7 own',
    );
    const leftOut = [{ name: 'gdal', why: 'it comes from conda', imports: ['osgeo'] }];
    const { variables } = environmentRuntime({
      directory: made.directory,
      modules: made.modules,
      leftOut: await writeLeftOut(join(cacheDir, 'instance'), leftOut),
      user: null,
    });
    const missing = run(made.pythonPath, ['-c', 'import osgeo'], { env: variables(process.env, {}) });
    await expect(missing).rejects.toThrow("No module named 'osgeo'. Package sync left gdal out: it comes from conda.");
    expect(await readdir(made.directory)).not.toContain('package-files');
    const changed = await ensure({ packageFiles: [await wheel(2, 'locket'), modules], requirements: ['toolz==1.1.0'] });
    expect(changed.hash).not.toBe(made.hash);
    expect(await say(changed, 'import mine; print(mine.value)')).toBe('2');
  });

  it('that are modules change no environment: another content is only another directory of modules', async () => {
    const requirements = ['toolz==1.1.0'];
    const mine = await wheel(9, 'locket');
    const build = async (modules: PackageFile): Promise<[Environment, string[]]> => {
      const stages: string[] = [];
      const packageFiles = [mine, modules];
      return [await ensure({ packageFiles, requirements, onStage: (name) => stages.push(name) }), stages];
    };
    const [first] = await build(await file('modules.zip', { 'mod.py': 'value = 1\n' }));
    const changed = await file('modules.zip', { 'mod.py': 'value = 2\n' });
    const [second, stages] = await build(changed);
    expect(stages).toEqual(['modules', 'ready']);
    expect(second).toMatchObject({ directory: first.directory, hash: first.hash, reused: false });
    expect([
      await say(first, 'import mod; print(mod.value)'),
      await say(second, 'import mod; print(mod.value)'),
    ]).toEqual(['1', '2']);
    const [again, unchanged] = await build(changed);
    expect([again.reused, again.modules, unchanged]).toEqual([true, second.modules, ['ready']]);
    // Kept and removed like an environment: in-use.ts and clean.ts.
    expect(await readdir(join(cacheDir, 'environments'))).toContain(basename(dirname(second.modules ?? '')));
    await expect(say({ ...second, modules: null }, 'import mod')).rejects.toThrow('ModuleNotFoundError');
  });

  it('cannot be unpacked outside of the environment', async () => {
    const modules = await file('modules.zip', { '../../outside.py': 'x = 1\n', 'inside.py': 'y = 1\n' });
    const made = await ensure({ packageFiles: [modules] });
    expect((await readdir(made.modules ?? '')).filter((name) => name.endsWith('.py')).toSorted()).toEqual([
      'inside.py',
      'outside.py',
    ]);
    expect(await readdir(join(cacheDir, 'environments'))).not.toContain('outside.py');
  });

  it('that are no archives are named', async () => {
    const sha256 = createHash('sha256').update('no zip').digest('hex');
    content.set(sha256, Buffer.from('no zip'));
    await expect(ensure({ packageFiles: [{ name: 'modules.zip', sha256 }] })).rejects.toThrow(
      /^modules\.zip cannot be unpacked/,
    );
    await expect(ensure({ packageFiles: [{ name: 'bad-1.0-py3-none-any.whl', sha256 }] })).rejects.toThrow(/bad/);
  });
});

describe('pinned requirements', () => {
  it('hold where a package asks for another version; others do not', async () => {
    const packageFiles = [await wheel(3)];
    const requirements = ['toolz==1.1.0'];
    await expect(ensure({ packageFiles, requirements })).rejects.toMatchObject({
      code: 'REQUIREMENT',
      message: expect.stringContaining('toolz'),
    });
    const made = await ensure({ packageFiles, requirements, pinned: true });
    expect(await say(made, 'import mine, toolz; print(mine.value, toolz.__version__)')).toBe('3 1.1.0');
  });

  it('are installed once for all versions of the package files, and none changes another', async () => {
    const requirements = ['toolz==1.1.0', 'zict==3.0.0'];
    const first = await ensure({ packageFiles: [await wheel(4)], requirements, pinned: true });
    const base = await ensure({ requirements, pinned: true });
    expect(base.reused).toBe(true);
    const second = await ensure({ packageFiles: [await wheel(5)], requirements, pinned: true });
    expect(await say(first, 'import mine, zict; print(mine.value)')).toBe('4');
    expect(await say(second, 'import mine, zict; print(mine.value, zict.__file__)')).toBe(
      `5 ${join(second.directory, 'lib', `python${await minorOf(second)}`, 'site-packages/zict/__init__.py')}`,
    );
    await expect(say(base, 'import mine')).rejects.toThrow('ModuleNotFoundError');
    const cached =
      'import importlib.util, zict, os; print(os.stat(importlib.util.cache_from_source(zict.__file__)).st_ino)';
    expect(await say(second, cached)).toBe(await say(base, cached));
  });
});

describe('the version of Python', () => {
  it("is the instance's own where it is the same", async () => {
    const { stdout } = await run('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
    const made = await ensure({ pythonVersion: stdout.trim() });
    expect(await say(made, 'import sys; print("%d.%d" % sys.version_info[:2])')).toBe(stdout.trim());
  });

  it("is taken from the caller's path where the instance has none of its own", async () => {
    const { stdout } = await run('python3', [
      '-c',
      'import os, sys; print("%d.%d" % sys.version_info[:2]); print(os.path.realpath(sys.executable))',
    ]);
    const [pythonVersion = '', callersPythonPath = ''] = stdout.trim().split('\n');
    const made = await ensure({ pythonVersion, callersPythonPath, pythonPath: 'no-such-python' });
    expect(await say(made, 'import os, sys; print(os.path.realpath(sys.executable))')).toBe(callersPythonPath);
  });

  it('that is unavailable is an error that names the installed version', async () => {
    const { stdout } = await run('python3', ['-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])']);
    await expect(ensure({ pythonVersion: '3.99' })).rejects.toMatchObject({
      code: 'PYTHON',
      message: expect.stringMatching(
        new RegExp(
          `^Python 3\\.99 is not on this instance, and could not be downloaded: error: .*The instance has Python ${stdout.trim()}\\.`,
          's',
        ),
      ),
    });
  });
});

describe('a package index with credentials', () => {
  it('is asked with them, and nothing of them is left on the disk or in an error', async () => {
    const index = await openPrivateIndex(cacheDir);
    try {
      const { url, username, password } = index;
      const asked = { requirements: ['private-plans'], indexes: [{ url, username, password, default: true }] };
      const made = await ensure(asked);
      expect(await say(made, 'import private_plans; print(private_plans.value)')).toBe('from the private index');
      const found = await run('grep', ['-rlE', 'p@ss|p%40ss', cacheDir]).catch(({ stdout }: { stdout: string }) => ({
        stdout,
      }));
      expect(found.stdout).toBe('');
      const refused = await ensure({ ...asked, indexes: [{ url, username, password: 'p@ssed', default: true }] }).then(
        ({ reused }) => reused,
        (error: unknown) => String(error),
      );
      // Credentials are not part of the content's identity: the environment exists already.
      expect(refused).toBe(true);
      const wrong = ensure({
        requirements: ['private-plans', 'other'],
        indexes: [{ url, username, password: 'p@ssed', default: true }],
      });
      await expect(wrong).rejects.toThrow(/cannot be installed/);
      expect(await wrong.catch(String)).not.toMatch(/p@ss|p%40ss/);
    } finally {
      await index.close();
    }
  });
});
