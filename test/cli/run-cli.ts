// Runs the real command line as a child process, with only the path of this environment.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export interface CliOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** For its stdin, which is closed at once otherwise. */
  input?: string;
  /** Another program than this Node with cli/main.ts. */
  argv?: [string, ...string[]];
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  result: Promise<CliResult>;
}

export const mainFile = join(root, 'cli', 'main.ts');
export const binFile = join(root, 'bin', 'ropewalk.mjs');

export function startCli(words: string[], { env = {}, cwd = tmpdir(), input, argv }: CliOptions = {}): RunningCli {
  const [program, ...before] = argv ?? [process.execPath, '--', mainFile];
  const child = spawn(program, [...before, ...words], {
    cwd,
    // Not the user's own home: a test must not find their configuration.
    env: {
      PATH: process.env['PATH'] ?? '',
      TZ: 'UTC',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ROPEWALK_HOME: '/nonexistent',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const result = new Promise<CliResult>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, result };
}

export async function runCli(words: string[], options?: CliOptions): Promise<CliResult> {
  return startCli(words, options).result;
}

/** A directory that is deleted when `use` has ended, however it ends. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-cli-'));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
