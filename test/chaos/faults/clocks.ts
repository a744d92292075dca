// Processes with clocks that are set while they run, by libfaketime: each reads its offset from a file. The monotonic clock is unaffected.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** From Debian's package faketime. */
const library = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find(existsSync);

export const canSetClocks = library !== undefined;

export interface Clock {
  env: Record<string, string>;
  set: (offsetSeconds: number) => void;
}

export function createClock(directory: string, name: string): Clock {
  const file = join(directory, name);
  const set = (offsetSeconds: number): void => writeFileSync(file, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
  set(0);
  const env = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { env, set };
}

/**
 * The file of a program that becomes the agent, in the same process, with this clock: agents inherit only some named variables of
 * the Temporal worker.
 */
export function agentWithClock(directory: string, { bundle, clock }: { bundle: string; clock: Clock }): string {
  const file = join(directory, 'agent.mjs');
  writeFileSync(
    file,
    `process.execve(process.execPath, [process.execPath, ...process.execArgv, ${JSON.stringify(bundle)}],
  { ...process.env, ...${JSON.stringify(clock.env)} });\n`,
  );
  return file;
}
