// README.md as a reader uses it: its commands, typed in a copy of this checkout with a new Ropewalk home, print the shown output.
// Each console block is run; the block of `npm run quickstart` and the Python example are too. The TypeScript example is run by
// test/sdk/package.test.ts.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { blocksOf, commandsOf, compareOutput } from '../support/console-blocks.ts';
import type { ShownCommand } from '../support/console-blocks.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { removeHome } from '../support/stack.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const minutes = 60_000;

let clone: string;
let readme: string;
beforeAll(async () => {
  readme = await readFile(join(root, 'README.md'), 'utf8');
  clone = await cloneCheckout();
}, minutes);
afterAll(async () => {
  if (clone !== undefined) await rm(clone, { recursive: true, force: true });
});

describe('README', () => {
  it(
    'shows what the quickstart prints',
    async () => {
      const [block = []] = blocksOf(readme, 'text');
      const [first = '', ...output] = block;
      // With a line of dots, lines that are printed and not shown would pass.
      expect(output).not.toContain('...');
      const printed = await type(first.replace(/^\$ /, ''), await environment());
      expect(printed.code).toBe(0);
      expect(compareOutput(output, printed)).toEqual({ missing: [], unexpected: [] });
    },
    10 * minutes,
  );

  it(
    'shows what its first commands print, and its Python example runs',
    async () => {
      const home = await makeDaskHome();
      const env = { ...(await environment()), ROPEWALK_HOME: home };
      const commands = blocksOf(readme, 'console').flatMap(commandsOf);
      let stack: ChildProcess | null = null;
      let setup = '';
      try {
        for (const shown of commands) {
          if (shown.command === 'npm start') stack = await startStack(shown, env);
          // Each command has a shell of its own.
          else if (shown.command.startsWith('export ')) setup += `${shown.command}; `;
          else {
            if (shown.command.startsWith('ropewalk cluster stop')) await runPythonExample(setup, env);
            const printed = await type(setup + shown.command, env);
            const problem = printed.code === 0 ? '' : `exit code ${printed.code}: ${printed.stderr}`;
            const found = compareOutput(shown.output, printed);
            expect({ command: shown.command, ...found, problem }).toEqual({
              ...{ command: shown.command, missing: [], unexpected: [] },
              problem: '',
            });
          }
        }
        expect(stack).not.toBeNull();
      } finally {
        if (stack?.pid !== undefined) process.kill(-stack.pid, 'SIGTERM');
        await eventually(async () => {
          const left = await processesOfHome(home);
          if (left.length > 0) throw new Error(`still there: ${JSON.stringify(left)}`);
          return true;
        });
        await removeHome(home);
      }
    },
    10 * minutes,
  );
});

/** A copy of the files that git tracks, with the packages of this checkout: the result of `git clone` and `npm ci`. */
async function cloneCheckout(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ropewalk-clone-'));
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const name of stdout.split('\0').filter((each) => each !== '' && each !== 'node_modules')) {
    await mkdir(dirname(join(copy, name)), { recursive: true });
    // A file that is deleted and not yet committed.
    await cp(join(root, name), join(copy, name), { verbatimSymlinks: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  const modules = join(copy, 'node_modules');
  await mkdir(modules);
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== lockHash) await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  // Marks the packages as those of the lock file: the commands then install nothing through the links.
  const lock = await readFile(join(copy, 'package-lock.json'));
  await writeFile(join(modules, lockHash), createHash('sha256').update(lock).digest('hex'));
  return copy;
}

/** Written by bin/bootstrap.mjs. */
const lockHash = '.ropewalk-lock-hash';

/** A user's environment: without the Node of this checkout, without any setting of Ropewalk or Temporal. */
async function environment(): Promise<Record<string, string>> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(ROPEWALK_|TEMPORAL_(?!CLI$)|npm_|VITEST|NODE_(OPTIONS|ENV|PATH)$)/.test(name)
      ? []
      : [[name, value] as const],
  );
  const PATH = (process.env['PATH'] ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  return { ...Object.fromEntries(entries), PATH: PATH.join(delimiter) };
}

interface Printed {
  code: number | null;
  stdout: string;
  stderr: string;
}

async function type(command: string, env: Record<string, string>): Promise<Printed> {
  const child = spawn('bash', ['-c', command], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, ...printed };
}

/** Resolves when the last line that README shows was printed. The stack runs in a process group of its own. */
async function startStack({ command, output }: ShownCommand, env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', command], { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const found = await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${text}`);
      const compared = compareOutput(output, { stdout: text, stderr: '' });
      return compared.missing.length === 0 ? compared : null;
    },
    { timeoutMs: 3 * minutes },
  );
  expect(found).toEqual({ missing: [], unexpected: [] });
  return child;
}

/** With the Python of the cluster's environment, and the package of the clone. */
async function runPythonExample(setup: string, env: Record<string, string>): Promise<void> {
  const where = await type(
    `${setup}ropewalk cluster exec --environment mine -- python -c "import sys; print(sys.executable)"`,
    env,
  );
  const [lines = []] = blocksOf(readme, 'python');
  const { stdout } = await run(where.stdout.trim(), ['-c', lines.join('\n')], {
    cwd: tmpdir(),
    env: { ...env, PYTHONPATH: join(clone, 'python') },
  });
  expect(stdout).toBe('6\n');
}
