// The Python package as its users get it: built as a wheel, installed beside Dask, checked by mypy, and its own tests run,
// first by themselves, then against a real stack. Each of pytest's tests is one here.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { uvVersion } from '../../agent/runtimes/environment/uv.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { makeDaskHome } from '../support/dask.ts';
import { sharedStack } from '../support/shared-stack.ts';
import { removeHome } from '../support/stack.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../python');
const tools = ['hatchling==1.33.0', 'mypy==2.4.1', 'pytest==9.2.0', 'types-PyYAML==6.0.12.20261113'];
const minutes = 60_000;

let work: string;
let home: string;
let python: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'ropewalk-python-'));
  home = await makeDaskHome();
  const environment = await ensureEnvironment({
    cacheDir: join(home, 'cache'),
    requirements: [...defaultRequirements, ...tools],
    pythonPath: 'python3',
    environment: process.env,
  });
  // The wheel goes into a directory of its own: an environment is never changed.
  python = environment.pythonPath;
  await run(python, ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', work], { cwd: source });
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl')) ?? 'no wheel';
  await run(python, ['-m', 'zipfile', '--extract', join(work, wheel), join(work, 'site')]);
}, 5 * minutes);
afterAll(async () => {
  await rm(work, { recursive: true, force: true });
  await removeHome(home);
});

describe('the wheel', () => {
  it('holds the package, typed, and what it needs', async () => {
    const files = await readdir(join(work, 'site'), { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['ropewalk/__init__.py', 'ropewalk/batch/__init__.py', 'ropewalk/py.typed']),
    );
    const information = files.find((name) => name.endsWith('.dist-info/METADATA')) ?? '';
    const metadata = await readFile(join(work, 'site', information), 'utf8');
    expect([...metadata.matchAll(/^Requires-Dist: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'distributed>=2025.11.0',
    ]);
    expect(metadata).toContain('Requires-Python: >=3.10');
    expect(files.filter((name) => name.includes('test'))).toEqual([]);
  });

  it(
    'passes mypy --strict, also as Python 3.10',
    async () => {
      for (const more of [[], ['--python-version', '3.10']]) {
        const { stdout } = await run(python, ['-m', 'mypy', '--cache-dir', join(work, 'mypy'), ...more], {
          cwd: source,
        });
        expect(stdout).toContain('no issues found');
      }
    },
    5 * minutes,
  );
});

describe('by itself', () => {
  it(
    'passes its tests',
    async () => {
      const { passed, trouble } = await pytest(['-m', 'not stack'], {});
      expect(trouble).toEqual([]);
      expect(passed).toBeGreaterThanOrEqual(100);
    },
    5 * minutes,
  );
});

describe('with a real stack', () => {
  it(
    'passes its tests',
    async () => {
      const stack = await sharedStack();
      const { passed, trouble } = await pytest(['-m', 'stack'], {
        ROPEWALK_TEST_API_URL: stack.apiUrl,
        ROPEWALK_TEST_TOKEN: stack.token,
      });
      expect(trouble).toEqual([]);
      expect(passed).toBeGreaterThanOrEqual(10);
    },
    10 * minutes,
  );
});

/** `trouble` is empty when every test that was chosen has run and passed. */
async function pytest(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<{ passed: number; trouble: string[] }> {
  const said = await run(python, ['-m', 'pytest', '-p', 'no:cacheprovider', ...args], {
    cwd: source,
    env: {
      // uv builds the wheels of projects, as on the machine of a user who has it.
      PATH: [join(home, 'cache/tools', `uv-${uvVersion}`, 'bin'), process.env['PATH']].join(delimiter),
      HOME: work,
      // The wheel, not the sources beside the tests.
      PYTHONPATH: join(work, 'site'),
      PYTHONSAFEPATH: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      ...environment,
    },
    maxBuffer: 16 * 1024 * 1024,
  }).then(
    ({ stdout }) => ({ stdout, ok: true }),
    (error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout}\n${error.stderr}`, ok: false }),
  );
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(lastLine(said.stdout))?.[1] ?? 0);
  const isClean = said.ok && count('skipped') + count('failed') + count('error') === 0;
  if (!isClean) console.error(said.stdout);
  return { passed: count('passed'), trouble: isClean ? [] : gist(said.stdout) };
}

/** Of what pytest said, what went wrong: all that is left of it at the end of a long run. */
function gist(text: string): string[] {
  const told = text.split('\n').filter((each) => /^(E  |FAILED|ERROR|SKIPPED)/.test(each));
  return told.length === 0 ? [text] : told;
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
