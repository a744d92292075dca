// Builds the agent into the single file that instances run. Used by the development stack and by tests.
import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { readPreload } from './dask/scheduler/preload.ts';

/** Writes the bundle to `outFile` atomically. It runs on Node 20 and later, from any directory. */
export async function buildAgent(outFile: string): Promise<void> {
  const temporary = `${outFile}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(dirname(outFile), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL('main.ts', import.meta.url))],
    outfile: temporary,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // The scheduler's Python preload is embedded as text.
    define: { ROPEWALK_PRELOAD_FILES: JSON.stringify(await readPreload()) },
    minify: false,
    logLevel: 'silent',
  });
  await rename(temporary, outFile);
}
