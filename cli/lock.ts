// Resolves a user's requirements to exact versions, with the uv of this machine.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';

import type { CliContext } from './context.ts';
import { CommandError, UsageError } from './errors.ts';

export type LockSource =
  | { kind: 'lines'; lines: readonly string[] }
  /** requirements.txt or pyproject.toml. */
  | { kind: 'file'; path: string }
  /** uv.lock. */
  | { kind: 'lock'; path: string };

export interface Locked {
  requirements: string[];
  /** The requirements are the whole environment. */
  pinned: boolean;
}

interface LockOptions {
  python: string | undefined;
  /** False keeps requirements as written. */
  resolve: boolean;
}

/** Instances run Linux, and most of them x86_64. */
const platform = 'x86_64-unknown-linux-gnu';
const timeoutMs = 10 * 60_000;

/** Throws UsageError for a file that cannot be read, CommandError when uv fails. */
export async function lockedBy(
  source: LockSource,
  options: LockOptions,
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
): Promise<Locked> {
  if (source.kind === 'lock') {
    const path = resolve(cwd, source.path);
    if (basename(path) !== 'uv.lock') throw new UsageError(`--lock: ${source.path} is not a uv.lock`);
    const words = [
      'export',
      '--frozen',
      '--no-hashes',
      '--no-emit-project',
      '--no-annotate',
      '--no-header',
      '--no-dev',
    ];
    return { requirements: pinnedLinesOf(await uv(words, '', dirname(path), env)), pinned: true };
  }
  const path = source.kind === 'file' ? resolve(cwd, source.path) : null;
  const isProject = path !== null && basename(path) === 'pyproject.toml';
  const text = path === null ? (source.kind === 'lines' ? source.lines.join('\n') : '') : await readText(path);
  if (!options.resolve) {
    if (isProject) throw new UsageError('--no-resolve: a pyproject.toml is read by uv, which resolves it.');
    return { requirements: writtenLinesOf(text, path === null ? 'of --pip' : `of ${basename(path)}`), pinned: false };
  }
  const python = options.python === undefined ? [] : ['--python-version', options.python];
  const flags = ['--quiet', '--no-header', '--no-annotate', '--python-platform', platform, ...python];
  // Requirements by stdin: a URL may contain a password, and every user of a machine can read arguments.
  const words = ['pip', 'compile', ...flags, path === null ? '-' : path];
  return { requirements: pinnedLinesOf(await uv(words, text, path === null ? cwd : dirname(path), env)), pinned: true };
}

function uv(words: string[], input: string, cwd: string, env: CliContext['env']): Promise<string> {
  return new Promise((done, fail) => {
    const child = execFile(
      'uv',
      words,
      { cwd, env, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) return done(stdout);
        if ('code' in error && error.code === 'ENOENT') {
          const hint = 'Install uv (pip install uv), or use --no-resolve.';
          return fail(new CommandError('uv, which resolves versions, is not on the PATH', hint));
        }
        const said = String(stderr)
          .trim()
          .replaceAll(/:\/\/[^/@\s]*@/g, '://[secret]@')
          .slice(-2_000);
        return fail(new CommandError(`uv cannot resolve the environment: ${said || error.message.slice(0, 500)}`));
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

const readText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${path}: ${error.code ?? error.message}`);
  });

/** Instances resolve these lines, and support no pip options: a file with options is refused, not shortened. */
function writtenLinesOf(text: string, source: string): string[] {
  const lines = withoutComments(text);
  const option = lines.find(({ line }) => line.startsWith('-'));
  if (option === undefined) return lines.map(({ line }) => line);
  // Only the option's first word: the URL of an index may contain a password.
  const word = /^[\w-]+/.exec(option.line.startsWith('--') ? option.line : option.line.slice(0, 2))?.[0] ?? '-';
  throw new UsageError(
    `--no-resolve: line ${option.number} ${source} is the option ${word}, which instances do not get`,
    'Write the packages themselves, or leave out --no-resolve: uv reads the options and resolves the versions.',
  );
}

/** uv's resolved lines; its other options only name this machine's package sources. */
function pinnedLinesOf(text: string): string[] {
  const lines = withoutComments(text).map(({ line }) => line);
  const editable = lines.find((line) => /^(-e|--editable)\b/.test(line));
  if (editable !== undefined) {
    throw new UsageError(
      `${editable} is a project on this machine, which instances cannot install`,
      'Build a wheel of it (uv build) and give its URL, or use package sync, which sends local projects.',
    );
  }
  return lines.filter((line) => !line.startsWith('-'));
}

const withoutComments = (text: string): { line: string; number: number }[] =>
  text
    .split('\n')
    .map((line, index) => ({ line: line.replace(/(^|\s)#.*/, '').trim(), number: index + 1 }))
    .filter(({ line }) => line !== '');
