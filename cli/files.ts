// The files that travel with a job: those its command names, and those of --upload. They arrive in each task's working
// directory. Larger data belong into object storage, which tasks read themselves.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';

import type { CreateJob } from '../schema/jobs.ts';
import { UsageError } from './errors.ts';

export type JobFile = NonNullable<CreateJob['files']>[number];

export const maxWordFileBytes = 1024 * 1024;
export const maxTotalBytes = 10 * 1024 * 1024;
export const maxFiles = 1_000;

/** `note` gets a sentence for each file that a reader would expect to travel and that does not. */
export async function collectFiles(
  words: readonly string[],
  uploads: readonly string[],
  cwd: string,
  note: (text: string) => void,
): Promise<JobFile[]> {
  const found: Found[] = [];
  for (const word of new Set(words)) found.push(...(await fileOfWord(word, cwd, note)));
  for (const upload of uploads) found.push(...(await filesOfUpload(upload, cwd)));
  const files = withoutRepeats(found);
  checkSize(files);
  return Promise.all(files.map(readOne));
}

interface Found {
  /** In the working directory of a task, with `/`. */
  path: string;
  source: string;
  bytes: number;
  executable: boolean;
}

async function fileOfWord(word: string, cwd: string, note: (text: string) => void): Promise<Found[]> {
  if (word === '' || word.length > 4_000 || word.includes('\0')) return [];
  const source = resolve(cwd, word);
  const found = await describe(source);
  if (found === null) return [];
  const inside = relative(cwd, source);
  const below = inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  if (isAbsolute(word)) {
    // Most absolute words are programs or data of the machine itself, e.g. /usr/bin/python3.
    if (below) note(`${word} is not sent along because it is an absolute path; write ${inside} to send it`);
    return [];
  }
  if (!below) {
    note(`${word} is not sent along because it is outside the current directory; use --upload to send it`);
    return [];
  }
  if (found.bytes > maxWordFileBytes) {
    note(
      `${word} is not sent along because it has ${megabytes(found.bytes)}, more than 1 MiB; use --upload to send it`,
    );
    return [];
  }
  return [{ ...found, path: inside.split(sep).join('/') }];
}

/** As Coiled does it: a file goes into the working directory under its name, a directory's content without its name. */
async function filesOfUpload(upload: string, cwd: string): Promise<Found[]> {
  const source = resolve(cwd, upload);
  const info = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--upload: cannot read ${upload}: ${error.code ?? error.message}`);
  });
  if (!info.isDirectory()) {
    const found = await describe(source);
    if (found === null) throw new UsageError(`--upload: ${upload} is neither a file nor a directory`);
    return [{ ...found, path: basename(source) }];
  }
  return walk(source, '', new Set());
}

/** `visited` holds real paths: a link to a directory above must not go round for ever. */
async function walk(directory: string, prefix: string, visited: Set<string>): Promise<Found[]> {
  const real = await realpath(directory);
  if (visited.has(real)) return [];
  visited.add(real);
  const all: Found[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    const source = join(directory, name);
    const path = `${prefix}${name}`;
    const info = await stat(source).catch(() => null);
    if (info?.isDirectory() === true) all.push(...(await walk(source, `${path}/`, visited)));
    const found = info?.isFile() === true ? await describe(source) : null;
    if (found !== null) all.push({ ...found, path });
    if (all.length > maxFiles) throw tooMany();
  }
  return all;
}

async function describe(source: string): Promise<Omit<Found, 'path'> | null> {
  const info = await stat(source).catch(() => null);
  if (info?.isFile() !== true) return null;
  return { source, bytes: info.size, executable: (info.mode & 0o111) !== 0 };
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

function checkSize(files: readonly Found[]): void {
  if (files.length > maxFiles) throw tooMany();
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxTotalBytes) return;
  const largest = files.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const named = largest.map(({ path, bytes }) => `${path} (${megabytes(bytes)})`).join(', ');
  throw new UsageError(
    `the job's files have ${megabytes(total)} together, more than 10 MiB; the largest: ${named}`,
    'Put large data where tasks can read them themselves, for example into a bucket, and send only their names.',
  );
}

async function readOne({ path, source, executable }: Found): Promise<JobFile> {
  const content = await readFile(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${source}: ${error.code ?? error.message}`);
  });
  return { path, content: content.toString('base64'), executable };
}

function tooMany(): UsageError {
  return new UsageError(
    `a job can have at most ${maxFiles} files`,
    'Pack them into one archive, and unpack it in the task.',
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
