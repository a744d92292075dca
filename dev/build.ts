// Builds the stack's bundles from the sources (the agent, the workflows and the web application), unless they are cached. The
// cache is keyed by the sources and the lockfile, so a changed file is never served from it.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { exists } from '../providers/local/files.ts';

export const repository = fileURLToPath(new URL('..', import.meta.url));

export interface Bundles {
  agent: string;
  workflows: string;
  web: string;
}

export async function buildBundles(): Promise<Bundles> {
  const [agent, workflows, web] = await Promise.all([
    cached({ name: 'agent', ending: '.mjs', folders: ['agent', 'schema', 'domain'], make: makeAgent }),
    cached({
      name: 'workflows',
      ending: '.cjs',
      folders: ['workflows', 'views', 'contracts', 'domain'],
      make: makeWorkflows,
    }),
    cached({ name: 'web', ending: '.json', folders: ['web'], make: makeWeb }),
  ]);
  return { agent, workflows, web };
}

interface Recipe {
  name: string;
  ending: string;
  folders: string[];
  make: (outFile: string) => Promise<void>;
}

const cache = join(repository, 'node_modules', '.cache', 'ropewalk');
/** Node's compile cache: see bin/ropewalk.mjs. */
export const compileCache = join(cache, 'compiled');
/** A running stack may restart from an older bundle, but not after this long. */
const keptForMs = 14 * 24 * 3_600_000;

async function cached({ name, ending, folders, make }: Recipe): Promise<string> {
  await mkdir(cache, { recursive: true });
  const target = join(cache, `${name}-${await digest(folders)}${ending}`);
  if (await exists(target)) return target;
  const temporary = join(cache, `building-${process.pid}-${name}${ending}`);
  await make(temporary);
  await rename(temporary, target);
  await removeOld(name);
  return target;
}

async function makeAgent(outFile: string): Promise<void> {
  const { buildAgent } = await import('../agent/build.ts');
  await buildAgent(outFile);
}

async function makeWeb(outFile: string): Promise<void> {
  const { buildWeb } = await import('../web/build.ts');
  await buildWeb(outFile);
}

async function makeWorkflows(outFile: string): Promise<void> {
  // Loaded only when needed: it takes most of a second.
  const { bundleWorkflows } = await import('../ops/build.ts');
  await bundleWorkflows(outFile);
}

async function digest(folders: string[]): Promise<string> {
  const hash = createHash('sha256');
  const files = (await Promise.all(folders.map(sourcesOf))).flat().sort();
  for (const file of [...files, 'package-lock.json']) {
    const bytes = await readFile(join(repository, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

async function sourcesOf(folder: string): Promise<string[]> {
  const names = await readdir(join(repository, folder), { recursive: true });
  return names.filter((name) => /\.(ts|tsx|css)$/.test(name)).map((name) => join(folder, name));
}

async function removeOld(name: string): Promise<void> {
  for (const file of (await readdir(cache)).filter((entry) => entry.startsWith(`${name}-`))) {
    const path = join(cache, file);
    // Another stack may be cleaning up at the same time.
    const age = await stat(path).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > keptForMs) await rm(path, { force: true });
  }
}
