// A free port of loopback that no other test of this machine gets. It is below the ports that the kernel gives to outgoing
// connections and to servers that request any port: between the choice and the use, one of those could take it.
import { mkdir, readdir, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { errorCode } from '../../providers/local/files.ts';

const firstPort = 10_000;
const lastPort = 32_767;
const claims = join(tmpdir(), 'ropewalk-test-ports');
/** By then the port is in use, which `isFree` detects, or its test has ended. */
const claimEndsAfterMs = 10 * 60_000;

export async function freePort(): Promise<number> {
  await removeOldClaims();
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort + 1));
    if ((await claim(port)) && (await isFree(port))) return port;
  }
}

/** True for one process only: the test files run in several. */
async function claim(port: number): Promise<boolean> {
  await mkdir(claims, { recursive: true });
  try {
    await mkdir(join(claims, String(port)));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

let isSwept = false;
async function removeOldClaims(): Promise<void> {
  if (isSwept) return;
  isSwept = true;
  const names = await readdir(claims).catch(() => []);
  for (const name of names) {
    const path = join(claims, name);
    const claimed = await stat(path).catch(() => null);
    // Another process may have removed it meanwhile.
    if (claimed !== null && Date.now() - claimed.mtimeMs > claimEndsAfterMs) await rmdir(path).catch(() => undefined);
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
