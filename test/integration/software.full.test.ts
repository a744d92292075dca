// The contents of a user's own Python environment reach the tasks of a job: `ropewalk batch run` with real Pythons, indexes and agents.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { runCli } from '../cli/run-cli.ts';
import { openPrivateIndex, type PrivateIndex } from '../support/private-index.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const run = promisify(execFile);
let stack: TestStack;
let index: PrivateIndex;
let place: string;
let env: Record<string, string>;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ropewalk-software-'));
  stack = await startStack();
  index = await openPrivateIndex(place);
  const environment = join(place, 'environment');
  await run('python3', ['-m', 'venv', '--without-pip', environment]);
  const site = await run(join(environment, 'bin', 'python'), [
    '-c',
    'import sysconfig; print(sysconfig.get_path("purelib"))',
  ]);
  await install(site.stdout.trim(), 'toolz', '1.0.0');
  await install(site.stdout.trim(), 'private_plans', '1.0');
  const path = `${join(place, 'environment', 'bin')}:${process.env['PATH']}`;
  env = { ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token, PATH: path, HOME: place };
});
afterAll(async () => {
  await stack.stop();
  await index.close();
  await rm(place, { recursive: true });
});

/** The files of an installed package that package sync reads. */
async function install(site: string, name: string, version: string): Promise<void> {
  const directory = join(site, `${name}-${version}.dist-info`);
  await mkdir(directory);
  await writeFile(join(directory, 'METADATA'), `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
  await writeFile(join(directory, 'INSTALLER'), 'pip\n');
}

interface Ended {
  code: number | null;
  stderr: string;
  printed: string[];
  number: string;
}

/** `ropewalk batch run --wait WORDS` in a directory with these files; returns the output of its tasks. */
async function submit(
  words: string[],
  files: Record<string, string>,
  more: Record<string, string> = {},
): Promise<Ended> {
  const cwd = await mkdtemp(join(place, 'work-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, '..'), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const { code, stdout, stderr } = await runCli(['batch', 'run', '--wait', ...words], {
    cwd,
    env: { ...env, ...more },
  });
  const number = /^Job (\d+)/.exec(stdout)?.[1] ?? '';
  const logs = await runCli(['batch', 'logs', number, '--format', 'json'], { env });
  const lines = logs.stdout.split('\n').filter((line) => line !== '');
  return { code, stderr, number, printed: lines.map((line) => String(JSON.parse(line).text)) };
}

it("a script's tasks have the packages, the modules and the namespace packages that it has here", async () => {
  const script = 'import helpers, toolz\nfrom space.deep import inner\nprint(toolz.__version__, helpers.x + inner.y)\n';
  const files = { 'job/script.py': script, 'job/helpers.py': 'x = 1\n', 'job/space/deep/inner.py': 'y = 2\n' };
  const { code, stderr, printed } = await submit(
    ['--package-sync-ignore', 'private-plans', 'python', 'job/script.py'],
    files,
  );
  expect({ code, printed, stderr }).toMatchObject({ code: 0, printed: expect.arrayContaining(['1.0.0 3']) });
});

it('a task that misses what was left out says what that is, and why', async () => {
  const script = `import importlib.util
assert importlib.util.find_spec("toolz") is None
try:
    import toolz.curried
except ImportError as error:
    print(error)
import secret_plans
`;
  const files = { 'script.py': script, 'secret_plans.py': '', 'helpers.py': '' };
  const { code, printed } = await submit(
    ['--package-sync-ignore', 'toolz,private-plans,secret_plans', 'script.py'],
    files,
  );
  expect(code).toBe(1);
  expect(printed).toContain("No module named 'toolz'. Package sync left toolz out: package_sync_ignore names it.");
  expect(printed.at(-1)).toMatch(
    /^ModuleNotFoundError: No module named 'secret_plans'. Package sync left .*secret_plans.py out: package_sync_ignore names it.$/,
  );
});

it('a package of a private index is installed, and no log has the credentials', async () => {
  const files = { 'script.py': 'import private_plans\nprint(private_plans.value)\n' };
  const { code, printed, stderr } = await submit(['script.py'], files, { PIP_EXTRA_INDEX_URL: index.withCredentials });
  expect({ code, printed, stderr }).toMatchObject({
    code: 0,
    printed: expect.arrayContaining(['from the private index']),
  });
  expect(stderr).toContain(`from ${index.url}`);
  expect(stderr + printed.join('\n')).not.toMatch(/p@ss|p%40ss/);
  // The stack's home contains histories, the object store and the agents' logs.
  const found = await run('grep', ['-rlE', 'p@ss|p%40ss', stack.home]).catch(({ stdout }: { stdout: string }) => ({
    stdout,
  }));
  expect(found.stdout).toBe('');
});
