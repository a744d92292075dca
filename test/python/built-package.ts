// The Python package as its users get it: built as a wheel, unpacked, with an environment that has Dask and the tools of its tests.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { toolEnvironment } from '../../agent/runtimes/environment/run-tool.ts';
import { uvVersion } from '../../agent/runtimes/environment/uv.ts';
import { makeDaskHome } from '../support/dask.ts';
import { sharedStack } from '../support/shared-stack.ts';
import { removeHome } from '../support/stack.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../python');
const tools = [
  ...['hatchling==1.33.0', 'mypy==2.4.1', 'pytest==9.2.0', 'rich==15.0.0', 'types-PyYAML==6.0.12.20261113'],
];
/** The emulated STS. Clusters with package sync install the client's packages: other tests do without. */
const awsTools = ['boto3==1.44.5', 'moto==5.2.5'];

/** Tests that start a Dask cluster each, four fifths of the time of all: dask.full.test.ts runs them. */
export const daskTests = [
  ...['cluster', 'cluster_ended', 'cluster_exit', 'cluster_options', 'cluster_use', 'cluster_waiting'],
  ...['credentials', 'defaults', 'events', 'functions', 'machines', 'package_sync'],
].map((name) => `tests/test_${name}.py`);

export interface BuiltPackage {
  /** The directory of the unpacked wheel. */
  site: string;
  /** The cache of uv and of environments. */
  cache: string;
  /** Runs the environment's Python in the folder of the package's sources; resolves with its output. */
  python: (args: readonly string[], environment?: Record<string, string>) => Promise<string>;
  /** Runs pytest on the unpacked wheel. `trouble` is empty when every chosen test has run and passed. */
  pytest: (
    args: readonly string[],
    environment: Record<string, string>,
  ) => Promise<{ passed: number; trouble: string[] }>;
  remove: () => Promise<void>;
}

export async function buildPackage({ withAws = true } = {}): Promise<BuiltPackage> {
  const work = await mkdtemp(join(tmpdir(), 'ropewalk-python-'));
  const home = await makeDaskHome();
  const { pythonPath } = await ensureEnvironment({
    cacheDir: join(home, 'cache'),
    requirements: [...defaultRequirements, ...tools, ...(withAws ? awsTools : [])],
    pythonPath: 'python3',
    environment: process.env,
  });
  // The wheel is unpacked into a directory of its own: an environment is never changed.
  const site = join(work, 'site');
  await run(pythonPath, ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', work], { cwd: source });
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl')) ?? 'no wheel';
  await run(pythonPath, ['-m', 'zipfile', '--extract', join(work, wheel), site]);
  // uv builds the wheels of projects, as on the machine of a user who has it.
  const path = [join(home, 'cache/tools', `uv-${uvVersion}`, 'bin'), process.env['PATH']].join(delimiter);
  const python = async (args: readonly string[], environment: Record<string, string> = {}): Promise<string> => {
    const env = { ...toolEnvironment(process.env, join(home, 'cache')), PATH: path, HOME: work, ...environment };
    return (await run(pythonPath, args, { cwd: source, env, maxBuffer: 16 * 1024 * 1024 })).stdout;
  };
  return {
    site,
    cache: join(home, 'cache'),
    python,
    pytest: (args, environment) =>
      pytest(python, args, {
        // The wheel, not the sources beside the tests.
        ...{ PYTHONPATH: site, PYTHONSAFEPATH: '1', PYTHONDONTWRITEBYTECODE: '1' },
        ...environment,
      }),
    remove: async () => {
      await rm(work, { recursive: true, force: true });
      await removeHome(home);
    },
  };
}

/** Chosen tests of the package on a stack, for a package built without AWS's SDK. */
export async function pytestOnStack(built: BuiltPackage, args: readonly string[]): ReturnType<BuiltPackage['pytest']> {
  const { apiUrl, token } = await sharedStack();
  return built.pytest(args, { ROPEWALK_TEST_API_URL: apiUrl, ROPEWALK_TEST_TOKEN: token });
}

async function pytest(
  python: BuiltPackage['python'],
  args: readonly string[],
  environment: Record<string, string>,
): Promise<{ passed: number; trouble: string[] }> {
  const said = await python(['-m', 'pytest', '-p', 'no:cacheprovider', ...args], environment).then(
    (stdout) => ({ stdout, ok: true }),
    (error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout}\n${error.stderr}`, ok: false }),
  );
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(lastLine(said.stdout))?.[1] ?? 0);
  const isClean = said.ok && count('skipped') + count('failed') + count('error') === 0;
  if (!isClean) console.error(said.stdout);
  return { passed: count('passed'), trouble: isClean ? [] : gist(said.stdout) };
}

/** The lines of pytest's output that name the failures: a long run prints only these. */
function gist(text: string): string[] {
  const wrong = text.split('\n').filter((each) => /^(E  |FAILED|ERROR|SKIPPED)/.test(each));
  return wrong.length === 0 ? [text] : wrong;
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
