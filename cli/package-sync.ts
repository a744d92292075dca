// Package sync of `batch run`: the tasks get the Python environment of the user's python. That Python reads it with the modules
// of python/ropewalk/package_sync, without having ropewalk installed.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Command } from 'commander';
import { Option } from 'commander';

import type { Client, CreateJob } from '../sdk/client.ts';
import { collect } from './arguments.ts';
import type { CliContext } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { saysYes, type ContainerFlags } from './containers.ts';
import { isSet, readScriptHeader, type ScriptHeader } from './script-header.ts';
import type { SoftwareFlags } from './software.ts';

export interface PackageSyncFlags {
  packageSync?: boolean;
  packageSyncStrict?: boolean;
  packageSyncIgnore?: string[];
  packageSyncOnly?: string[];
  packageSyncFailOn?: string;
  packageSyncCondaExtras?: string[];
}

const levels = ['critical-only', 'warning-or-higher', 'any'];

export const withPackageSync = (command: Command): Command =>
  command
    .option('--package-sync', 'give the tasks the environment of your python (default for a Python script)')
    .option('--no-package-sync', 'tasks have the programs of the instance')
    .option('--package-sync-ignore <names>', 'packages and modules to leave out (repeatable)', collect)
    .option('--package-sync-only <names>', 'the only packages and modules to send (repeatable)', collect)
    .option('--package-sync-strict', 'nothing may be left out')
    .addOption(new Option('--package-sync-fail-on <level>', 'what may not be left out').choices(levels))
    .option('--package-sync-conda-extras <names>', 'packages on conda-forge that are not here (repeatable)', collect);

/** Options about package sync in a script's header; the client carries them out. */
export const packageSyncOptions = [
  ...['no-package-sync', 'package-sync-strict', 'package-sync-ignore', 'package-sync-only', 'package-sync-fail-on'],
  'package-sync-conda-extras',
];
/** Header options that select the tasks' runtime: then there is no package sync unless another option requests it. */
const runtimeOptions = ['container', 'software', 'run-on-host'];

interface SyncRequest {
  strict: boolean;
  ignore: string[];
  only: string[] | null;
  failOn: string;
  condaExtras: string[];
  /** A path, or undefined for the python on the PATH. */
  python: string | undefined;
  /** An option or the script's header requested it. */
  isExplicit: boolean;
}

type Flags = PackageSyncFlags & SoftwareFlags & Pick<ContainerFlags, 'container'> & { runOnHost?: string };

/** Null when the tasks do not get the user's Python environment. Throws UsageError. */
export async function syncOf(context: CliContext, words: string[], flags: Flags): Promise<SyncRequest | null> {
  const header = await readScriptHeader(words, new Set([...packageSyncOptions, ...runtimeOptions]), context);
  const { software, container, requirement, requirementsFile, runOnHost } = flags;
  const chosen = [software, container, requirement, requirementsFile];
  const isVersion = flags.python !== undefined && pythonPathOf(flags) === undefined;
  const isOnHost = runOnHost !== undefined && saysYes('--run-on-host', runOnHost);
  const isChosen = isVersion || isOnHost || chosen.some((each) => each !== undefined);
  return syncRequestOf({ flags, header, words, isChosen });
}

interface SyncSources {
  flags: Flags;
  /** Options of `packageSyncOptions` and `runtimeOptions`. */
  header: ScriptHeader;
  words: readonly string[];
  /** Options select the tasks' runtime. */
  isChosen: boolean;
}

/** Null when there is no package sync. The command line overrides the header; lists accumulate. Throws UsageError. */
function syncRequestOf({ flags, header, words, isChosen }: SyncSources): SyncRequest | null {
  const list = (name: string, own: string[] = []): string[] => [...(header.get(name) ?? []), ...own].flatMap(namesIn);
  const only = list('package-sync-only', flags.packageSyncOnly);
  const failOn = flags.packageSyncFailOn ?? header.get('package-sync-fail-on')?.at(-1) ?? 'critical-only';
  if (!levels.includes(failOn)) {
    throw new UsageError(`package-sync-fail-on: ${JSON.stringify(failOn)} is none of ${levels.join(', ')}`);
  }
  const python = pythonPathOf(flags);
  const own = [flags.packageSyncIgnore, flags.packageSyncOnly, flags.packageSyncFailOn, flags.packageSyncCondaExtras];
  const isExplicit =
    flags.packageSync === true || flags.packageSyncStrict === true || python !== undefined || own.some(Boolean);
  const isOff = flags.packageSync === false || (!isExplicit && isSet(header, 'no-package-sync'));
  if (isOff && isExplicit && flags.packageSync === false) {
    throw new UsageError(
      '--no-package-sync and an option of package sync exclude each other',
      'Leave one of them out.',
    );
  }
  if (isChosen && isExplicit) {
    throw new UsageError(
      'package sync and another option say both what the tasks run in',
      'Leave the options of package sync out, or --requirement, --software, --container and --run-on-host.',
    );
  }
  const runsElsewhere = isChosen || runtimeOptions.some((name) => name !== 'run-on-host' && header.has(name));
  const isDefault = isPython(words[0] ?? '') && !runsElsewhere && !isSet(header, 'run-on-host');
  if (isOff || !(isExplicit || isDefault)) return null;
  return {
    strict: flags.packageSyncStrict ?? isSet(header, 'package-sync-strict'),
    ignore: list('package-sync-ignore', flags.packageSyncIgnore),
    only: only.length === 0 ? null : only,
    failOn,
    condaExtras: list('package-sync-conda-extras', flags.packageSyncCondaExtras),
    python,
    isExplicit,
  };
}

/** `--python` is a version of an environment, or the path of the Python whose environment is sent. */
export const pythonPathOf = ({ python }: SoftwareFlags): string | undefined =>
  python?.includes('/') === true ? python : undefined;

const namesIn = (value: string): string[] =>
  value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

const isPython = (word: string): boolean => word.endsWith('.py') || /^python(3(\.\d+)?)?$/.test(word);

interface Place {
  words: readonly string[];
  signal: AbortSignal;
}

/** Reads the environment, and uploads the files that the server lacks. Undefined without a Python. Throws CommandError. */
export async function syncedSoftware(
  context: CliContext,
  client: Client,
  request: SyncRequest,
  { words, signal }: Place,
): Promise<CreateJob['software']> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-sync-'));
  try {
    context.output.progress('Reading the Python environment');
    const result = await readEnvironment(context, request, { words, signal, directory });
    if (result === null) return undefined;
    for (const line of result.warnings ?? []) context.output.err(`warning: ${line}`);
    if (result.software === undefined)
      throw new CommandError(result.error ?? 'Package sync failed', result.hint ?? undefined);
    const files = result.software.packageFiles ?? [];
    const sha256s = files.map(({ sha256 }) => sha256);
    const missing = sha256s.length === 0 ? [] : await client.packageFiles.missing(sha256s, { signal });
    for (const sha256 of missing) {
      await client.packageFiles.store(sha256, await readFile(join(directory, sha256)), { signal });
    }
    context.output.err(result.summary?.replace('(0 uploaded)', `(${missing.length} uploaded)`) ?? '');
    return result.software;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Result {
  software?: NonNullable<CreateJob['software']>;
  summary?: string;
  warnings?: string[];
  error?: string;
  hint?: string | null;
}

async function readEnvironment(
  context: CliContext,
  request: SyncRequest,
  { words, signal, directory }: Place & { directory: string },
): Promise<Result | null> {
  const { cwd, env } = context;
  const scripts = words
    .filter((word) => extname(word) === '.py')
    .map((word) => resolve(cwd, word.replace(/^~(?=\/)/, env['HOME'] ?? '~')));
  const [program] = scripts;
  const roots = [program === undefined ? cwd : dirname(program)];
  const { strict, ignore, only, failOn, condaExtras } = request;
  const asked = JSON.stringify({ strict, ignore, only, failOn, condaExtras, roots, programs: scripts });
  const candidates = request.python === undefined ? ['python', 'python3'] : [resolve(cwd, request.python)];
  for (const python of candidates) {
    const ended = await run(python, [readerFile, directory], { cwd, env, input: asked, signal });
    if (ended === null) continue;
    const text = await readFile(join(directory, 'result.json'), 'utf8').catch(() => null);
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the reader is of this version
    if (text !== null) return JSON.parse(text) as Result;
    throw new CommandError(
      `package sync could not read the environment of ${python}: ${ended.trim().slice(-2_000)}`,
      'Use --no-package-sync, or name another Python with --python /path/to/python.',
    );
  }
  if (request.isExplicit) {
    throw new CommandError(`package sync: there is no ${candidates.join(' or ')}`, 'Name a Python with --python.');
  }
  context.output.err('note: no python is on the PATH, so that tasks have the programs of the instance');
  return null;
}

const readerFile = fileURLToPath(new URL('../python/ropewalk/package_sync/reader.py', import.meta.url));

/** Its stderr; null when the program does not exist. Rejects with the signal's reason. */
function run(
  program: string,
  args: string[],
  { input, signal, ...options }: { cwd: string; env: CliContext['env']; input: string; signal: AbortSignal },
): Promise<string | null> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'], signal });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-10_000)));
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) fail(signal.reason instanceof Error ? signal.reason : error);
      else if (error.code === 'ENOENT' || error.code === 'EACCES') done(null);
      else fail(error);
    });
    child.on('close', () => done(said));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
