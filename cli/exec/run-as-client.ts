// Runs a local command with the settings that Dask needs to connect to a cluster. The key is in a file that only this user can
// read, for as long as the command runs; it is in no argument and no environment variable.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Credentials } from '../../sdk/client.ts';
import type { CliContext } from '../context.ts';
import { runCommand } from './run-command.ts';
import { createSignalRelay, exitCodeOfSignal } from './signal-relay.ts';

/**
 * `extra` variables override the user's own. Resolves with the command's exit code; as in shells, 128 + n when signal n ended it,
 * and 127 when the program does not exist.
 */
export async function runAsClient(
  credentials: Credentials,
  words: readonly string[],
  extra: Record<string, string>,
  { env, cwd, output }: Pick<CliContext, 'env' | 'cwd' | 'output'>,
): Promise<number> {
  // Before the first file is written: from here on a signal ends this process only after the files are removed.
  const relay = createSignalRelay();
  let directory: string | null = null;
  try {
    // mkdtemp uses mode 0700.
    directory = await mkdtemp(join(tmpdir(), 'ropewalk-exec-'));
    const dask = await writeCredentials(directory, credentials);
    const early = relay.received();
    if (early !== null) return exitCodeOfSignal(early);
    return await runCommand(words, {
      env: { ...env, ...extra, ...dask },
      cwd,
      relay,
      note: (text) => output.err(text),
    });
  } finally {
    if (directory !== null) await rm(directory, { recursive: true, force: true });
    relay.close();
  }
}

/** Variables that dask.config reads as `scheduler-address` and `distributed.comm`, the defaults of Client(). */
async function writeCredentials(directory: string, credentials: Credentials): Promise<Record<string, string>> {
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    return path;
  };
  return {
    DASK_SCHEDULER_ADDRESS: credentials.schedulerAddress,
    DASK_DISTRIBUTED__COMM__TLS__CA_FILE: await write('ca.pem', credentials.ca),
    DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT: await write('client.pem', credentials.certificate),
    DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY: await write('client.key', credentials.key),
    DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'True',
  };
}
