// The files of a job: those that its command names, and those of --upload. They are copied into each task's working directory.
// A few small ones are sent with the job, sealed; others are uploaded to the object store first.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';

import type { CreateJob } from '../schema/jobs.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { describeFile, type Found } from './found-file.ts';
import { filesNamedIn } from './implicit-files.ts';
import { isScript } from './outside-scripts.ts';

export type JobFile = NonNullable<CreateJob['files']>[number];

export const maxWordFileBytes = 1024 * 1024;
export const maxTotalBytes = 10 * 1024 * 1024;
export const maxFiles = 1_000;
/** Limit for --upload to the object store. */
export const maxStoredFiles = 10_000;

export interface SentFiles {
  files: JobFile[];
  /** Files of --upload that are too many or too large to be sent with the job, uploaded before it. */
  stored: Found[];
  /** The words of the command; a script outside the working directory is replaced by its path there. */
  command: string[];
}

export interface Collecting {
  /** For each file that the user may expect to be sent and that is not, and for those sent because a script names them. */
  note: (text: string) => void;
  /** What --upload names goes to the object store, also where it is small. */
  storeAll?: boolean;
  /** Files that scripts of the command name in their lines are sent too. */
  searchScripts: boolean;
}

export async function collectFiles(
  words: readonly string[],
  uploads: readonly string[],
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
  { note, storeAll = false, searchScripts }: Collecting,
): Promise<SentFiles> {
  const found: Found[] = [];
  const renamed = new Map<string, string>();
  for (const word of new Set(words)) {
    const file = await fileOfWord(word, { cwd, env }, note);
    if (file === null) continue;
    found.push(file);
    if (word.replace(/^(\.\/)+/, '') !== file.path) renamed.set(word, file.path);
  }
  const scripts = [...found];
  for (const upload of uploads) found.push(...(await filesOfUpload(upload, cwd, note)));
  // Files that the user names take precedence over those that a script names.
  const taken = new Set(found.map(({ path }) => path));
  const named = searchScripts ? await filesNamedIn(scripts, taken, roomBeside(scripts), { cwd, env }, note) : [];
  const ofCommand = new Set([...scripts, ...named]);
  const all = withoutRepeats([...found, ...named]);
  const goesWithJob = uploads.length === 0 || (!storeAll && fits(all));
  const files = goesWithJob ? all : all.filter((file) => ofCommand.has(file));
  const stored = goesWithJob ? [] : all.filter((file) => !ofCommand.has(file));
  checkSize(files);
  if (stored.length > maxStoredFiles) throw tooMany(maxStoredFiles);
  return {
    files: await Promise.all(files.map(async (file) => readOne(file, named.includes(file)))),
    stored,
    command: words.map((word) => renamed.get(word) ?? word),
  };
}

async function fileOfWord(
  word: string,
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
  note: (text: string) => void,
): Promise<Found | null> {
  if (word === '' || word.length > 4_000 || word.includes('\0')) return null;
  // A shell expands only an unquoted `~/`.
  const source = resolve(cwd, word.replace(/^~(?=\/)/, env['HOME'] ?? '~'));
  const found = await describeFile(source);
  if (found === null) return null;
  const inside = relative(cwd, source);
  const isBelow = inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  const path = isBelow ? inside.split(sep).join('/') : basename(source);
  const isSmall = found.bytes <= maxWordFileBytes;
  if (!isBelow || isAbsolute(word) || word.startsWith('~/')) {
    if (isSmall && isScript(source, await read(source), env['PATH'] ?? '')) return { ...found, path };
    // Most absolute words are programs or data of the instance.
    if (isBelow) note(`${word} is not sent: it is an absolute path and no script; write ${path} to send it`);
    else if (!isAbsolute(word))
      note(`${word} is not sent: it is outside the current directory; use --upload to send it`);
    return null;
  }
  if (isSmall) return { ...found, path };
  note(`${word} is not sent: it has ${mebibytes(found.bytes)}, more than 1 MiB; use --upload to send it`);
  return null;
}

/**
 * As in Coiled: a file is copied into the working directory under its name, a directory's content without the directory's name.
 */
async function filesOfUpload(upload: string, cwd: string, note: (text: string) => void): Promise<Found[]> {
  const source = resolve(cwd, upload);
  const info = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--upload: cannot read ${upload}: ${error.code ?? error.message}`);
  });
  if (!info.isDirectory()) {
    const found = await describeFile(source);
    if (found === null) throw new UsageError(`--upload: ${upload} is neither a file nor a directory`);
    return [{ ...found, path: basename(source) }];
  }
  const skipped: string[] = [];
  const found = await walk(source, '', { visited: new Set(), skipped });
  const shown = skipped.slice(0, 3).join(', ');
  const more = skipped.length > 3 ? `, and ${skipped.length - 3} more` : '';
  if (skipped.length > 0) note(`not sent of ${upload}: ${shown}${more}`);
  return found;
}

/** The name of an incomplete download: it is not a file of the user. */
export const partName = /^\.ropewalk-\w{8,16}\.part$/;

interface Walk {
  /** Real paths: a link to a parent directory must not be followed forever. */
  visited: Set<string>;
  /** Entries that cannot be sent. */
  skipped: string[];
}

async function walk(directory: string, prefix: string, { visited, skipped }: Walk): Promise<Found[]> {
  const real = await realpath(directory);
  if (visited.has(real)) return [];
  visited.add(real);
  const all: Found[] = [];
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--upload: cannot read ${directory}: ${error.code ?? error.message}`);
  });
  if (names.length === 0 && prefix !== '')
    skipped.push(`${prefix} (an empty directory: a task that needs it makes it)`);
  for (const name of names.filter((each) => !partName.test(each)).toSorted()) {
    const source = join(directory, name);
    const path = `${prefix}${name}`;
    const info = await stat(source).catch(() => null);
    if (info === null) skipped.push(`${path} (a link to nothing)`);
    else if (info.isDirectory()) all.push(...(await walk(source, `${path}/`, { visited, skipped })));
    else if (!info.isFile()) skipped.push(`${path} (neither a file nor a directory)`);
    const found = info?.isFile() === true ? await describeFile(source) : null;
    if (found !== null) all.push({ ...found, path });
    if (all.length > maxStoredFiles) throw tooMany(maxStoredFiles);
  }
  return all;
}

function withoutRepeats(found: readonly Found[]): Found[] {
  const byPath = new Map<string, Found>();
  for (const file of found) {
    const other = byPath.get(file.path);
    if (other !== undefined && other.source !== file.source) {
      throw new UsageError(
        `${other.source} and ${file.source} would both become ${file.path} in the working directory`,
      );
    }
    byPath.set(file.path, file);
  }
  return [...byPath.values()];
}

const fits = (files: readonly Found[]): boolean =>
  files.length <= maxFiles && files.reduce((sum, { bytes }) => sum + bytes, 0) <= maxTotalBytes;

/** The files of --upload are not counted: those that do not fit go to the object store. */
const roomBeside = (scripts: readonly Found[]): { bytes: number; files: number } => ({
  bytes: maxTotalBytes - scripts.reduce((sum, { bytes }) => sum + bytes, 0),
  files: maxFiles - scripts.length,
});

function checkSize(files: readonly Found[]): void {
  if (files.length > maxFiles) throw tooMany(maxFiles);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxTotalBytes) return;
  const largest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const named = largest.map(({ path, bytes }) => `${path} (${mebibytes(bytes)})`).join(', ');
  throw new UsageError(
    `the job's files have ${mebibytes(total)} together, more than 10 MiB; the largest: ${named}`,
    'Put large data where tasks can read it themselves, for example in a bucket, and send only its name.',
  );
}

async function readOne({ path, source, executable }: Found, isImplicit: boolean): Promise<JobFile> {
  const content = (await read(source)).toString('base64');
  return { path, content, executable, ...(isImplicit && { implicit: true }) };
}

async function read(source: string): Promise<Buffer> {
  return readFile(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${source}: ${error.code ?? error.message}`);
  });
}

function tooMany(max: number): UsageError {
  return new UsageError(
    `a job can have at most ${max} files`,
    'Pack them into one archive, and unpack it in the task.',
  );
}

export const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
