// The Python package as pip installs it: a reproducible wheel, in an empty environment.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { toolEnvironment } from '../../agent/runtimes/environment/run-tool.ts';
import { uvVersion } from '../../agent/runtimes/environment/uv.ts';
import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;
const run = promisify(execFile);

let built: BuiltPackage;
let work: string;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
  work = await mkdtemp(join(tmpdir(), 'ropewalk-install-'));
}, 5 * minutes);
afterAll(async () => {
  await built?.remove();
  if (work !== undefined) await rm(work, { recursive: true, force: true });
});

it(
  'the wheel is the same from another directory at another time, and installs a command',
  async () => {
    const copy = join(work, 'elsewhere');
    await cp(join(import.meta.dirname, '../../python'), copy, { recursive: true });
    await utimes(join(copy, 'ropewalk/__init__.py'), 1_000_000_000, 1_000_000_000);
    const wheels = [];
    for (const [name, directory] of [
      ['one', undefined],
      ['two', copy],
    ] as const) {
      const target = join(work, name);
      const build = ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', target];
      await built.python(directory === undefined ? build : ['-c', inDirectory, directory, ...build]);
      wheels.push(join(target, (await readdir(target))[0] ?? 'none'));
    }
    const [wheel = '', again = ''] = wheels;
    expect(await sha256(again)).toBe(await sha256(wheel));

    const uv = join(built.cache, 'tools', `uv-${uvVersion}`, 'bin/uv');
    const venv = join(work, 'venv');
    const env = { ...toolEnvironment(process.env, built.cache), HOME: work, PATH: process.env['PATH'] };
    await run(uv, ['venv', '--quiet', '--python', 'python3', venv], { cwd: work, env });
    await run(uv, ['pip', 'install', '--quiet', '--python', join(venv, 'bin/python'), wheel], { cwd: work, env });
    const ropewalk = (...words: string[]): Promise<{ stdout: string; stderr: string; code?: number }> =>
      run(join(venv, 'bin/ropewalk'), words, { cwd: work, env: { HOME: work, PATH: '/usr/bin:/bin' } }).catch(
        (error: { stdout: string; stderr: string; code: number }) => error,
      );
    expect(await ropewalk('--version')).toMatchObject({ stdout: '0.1.0\n', stderr: '' });
    const refused = await ropewalk('whoami');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('The address of the Ropewalk API is not set');
    expect((await ropewalk('sweep')).stderr).toContain('for those who run Ropewalk');
  },
  10 * minutes,
);

/** Runs Python with the remaining arguments in the directory that the first one names. */
const inDirectory =
  'import os, subprocess, sys; os.chdir(sys.argv[1]); sys.exit(subprocess.call([sys.executable, *sys.argv[2:]]))';

const sha256 = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
