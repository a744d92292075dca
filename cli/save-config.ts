// Writes config.yaml, which contains a token: atomically, and readable by its owner only.
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';

import { stringify } from 'yaml';

import { configFile, readConfig } from './config.ts';
import { UsageError } from './errors.ts';

/** Changes the given settings; undefined removes one. Throws UsageError, and changes nothing, when the file is not valid. */
export async function saveConfig(home: string, change: Record<string, string | undefined>): Promise<string> {
  const file = configFile(home);
  const config = { ...(await readConfig(file)), ...change };
  const kept = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  const whole = `${file}.${process.pid}`;
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await writeFile(whole, stringify(kept), { mode: 0o600 });
    // `mode` above applies to new files only.
    await chmod(whole, 0o600);
    await rename(whole, file);
  } catch (error) {
    await rm(whole, { force: true }).catch(() => undefined);
    throw new UsageError(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return file;
}
