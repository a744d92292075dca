// Powers the machine off after the watchdog timer ended an agent's work, where its provider configured a command. A failure is
// only logged: the provider's own limits are the next layer.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Log } from '../logs/log.ts';

/** `argv` without a shell, e.g. ["systemctl", "poweroff"]; null where the machine must not be powered off. */
export async function powerOff(argv: readonly string[] | null, log: Pick<Log, 'write'>): Promise<void> {
  const [file, ...args] = argv ?? [];
  if (file === undefined) return;
  log.write(`The machine is being powered off: ${file}.`);
  await promisify(execFile)(file, args, { timeout: timeoutMs }).catch((error: unknown) =>
    log.write(`The machine could not be powered off: ${error instanceof Error ? error.message : String(error)}`),
  );
}

const timeoutMs = 30_000;
