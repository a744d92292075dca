// What a user's own Python environment has reaches the tasks of a job: `ropewalk batch run` with real Pythons, indexes and agents.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { runCli } from '../cli/run-cli.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const run = promisify(execFile);
let stack: TestStack;
let place: string;
let env: Record<string, string>;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ropewalk-software-'));
  stack = await startStack();
  await run('python3', ['-m', 'venv', join(place, 'environment')]);
  await run(join(place, 'environment', 'bin', 'pip'), ['install', '--quiet', 'toolz==1.0.0']);
  const path = `${join(place, 'environment', 'bin')}:${process.env['PATH']}`;
  env = { ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token, PATH: path, HOME: place };
});
afterAll(async () => {
  await stack.stop();
  await rm(place, { recursive: true });
});

interface Ended {
  code: number | null;
  stderr: string;
  printed: string[];
  number: string;
}

/** `ropewalk batch run --wait WORDS` in a directory with these files, and what its tasks printed. */
async function submit(words: string[], files: Record<string, string>): Promise<Ended> {
  const cwd = await mkdtemp(join(place, 'work-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, '..'), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const { code, stdout, stderr } = await runCli(['batch', 'run', '--wait', ...words], { cwd, env });
  const number = /^Job (\d+)/.exec(stdout)?.[1] ?? '';
  const logs = await runCli(['batch', 'logs', number, '--format', 'json'], { env });
  const lines = logs.stdout.split('\n').filter((line) => line !== '');
  return { code, stderr, number, printed: lines.map((line) => String(JSON.parse(line).text)) };
}

it("a script's tasks have the packages, the modules and the namespace packages that it has here", async () => {
  const script = 'import helpers, toolz\nfrom space.deep import inner\nprint(toolz.__version__, helpers.x + inner.y)\n';
  const files = { 'job/script.py': script, 'job/helpers.py': 'x = 1\n', 'job/space/deep/inner.py': 'y = 2\n' };
  const { code, stderr, printed } = await submit(['python', 'job/script.py'], files);
  expect({ code, printed, stderr }).toMatchObject({ code: 0, printed: expect.arrayContaining(['1.0.0 3']) });
});
