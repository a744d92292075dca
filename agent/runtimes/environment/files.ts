// Files in a directory that is being built. Where builds have their own user, that user writes and removes them: a build runs
// code of packages, which may put links where root would follow them.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { emptyAs } from '../../processes/hand-over.ts';
import { EnvironmentError } from './errors.ts';
import { runTool, type Tools } from './run-tool.ts';

/** Creates a private file. Rejects when it exists. */
export async function writeNew(tools: Tools, path: string, content: string | Uint8Array): Promise<void> {
  if (tools.user === null) return writeFile(path, content, { mode: 0o600, flag: 'wx' });
  await step(tools, ['sh', '-c', 'umask 077; set -C; cat > "$1"', 'sh', path], content);
}

/** Creates or replaces a file that every user may read. */
export async function writePublic(tools: Tools, path: string, content: string): Promise<void> {
  if (tools.user === null) return writeFile(path, content);
  await step(tools, ['sh', '-c', 'umask 022; rm -f -- "$1"; cat > "$1"', 'sh', path], content);
}

export async function makePrivateDirectory(tools: Tools, path: string): Promise<void> {
  if (tools.user === null) await mkdir(path, { mode: 0o700 });
  else await step(tools, ['mkdir', '-m', '700', '--', path]);
}

export async function removeAll(tools: Tools, path: string): Promise<void> {
  if (tools.user === null) await rm(path, { recursive: true, force: true });
  else await step(tools, ['rm', '-rf', '--', path]);
}

/** Keeps the directory itself. */
export async function emptyDirectory(tools: Tools, directory: string): Promise<void> {
  if (tools.user !== null) return emptyAs(tools.user, directory);
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
}

async function step(tools: Tools, [program = '', ...args]: readonly string[], input?: string | Uint8Array) {
  const outcome = await runTool(tools, program, args, {
    timeoutMs: 10 * 60_000,
    ...(input === undefined ? {} : { input }),
  });
  if (outcome.ok) return;
  throw new EnvironmentError('INSTALL', `A file of the environment could not be changed: ${outcome.failure.said}`, {
    cause: outcome.failure.cause,
  });
}
