// Writes config.yaml, which holds a token: whole or not at all, and readable for its owner only.
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';

import { stringify } from 'yaml';

import { configFile, readConfig } from './config.ts';
import { UsageError } from './errors.ts';

/** Changes what is named; undefined takes it away. A file that is not valid stays as it is: UsageError. */
export async function saveConfig(home: string, change: Record<string, string | undefined>): Promise<string> {
  const file = configFile(home);
  const config = { ...(await readConfig(file)), ...change };
  const kept = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  const whole = `${file}.${process.pid}`;
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await writeFile(whole, stringify(kept), { mode: 0o600 });
    // The mode above counts for new files only.
    await chmod(whole, 0o600);
    await rename(whole, file);
  } catch (error) {
    await rm(whole, { force: true }).catch(() => undefined);
    throw new UsageError(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return file;
}
