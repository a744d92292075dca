// An instance's name belongs to the first agent that links a complete claim.json into its directory. Launches may be repeated
// and may race; the kernel decides once. The tombstone is the counterpart: written by the process that ends the instance, it
// makes a late agent end itself.
import { randomBytes } from 'node:crypto';
import { access, link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startTimeOf } from '../processes/start-time.ts';

/** The tombstone check's interval; it only covers missed signals, because the provider also sends signals. */
const checkEveryMs = 2_000;

/** False when another agent already is this instance. */
export async function claimInstance(
  directory: string,
  bootId: string,
  controlGroup: string | null = null,
): Promise<boolean> {
  const own = { pid: process.pid, startTime: startTimeOf(process.pid) };
  const claim = { ...own, bootId, controlGroup, atMs: Date.now() };
  const temporary = join(directory, `claim.${randomBytes(6).toString('hex')}.tmp`);
  await writeFile(temporary, JSON.stringify(claim), { mode: 0o600, flag: 'wx' });
  try {
    await link(temporary, join(directory, 'claim.json'));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Checks for the tombstone at once, and then as long as the process lives. A missing directory means the same. */
export async function endWhenUnwanted(directory: string, stopping: AbortController): Promise<void> {
  const look = async (): Promise<void> => {
    const isWanted = (await exists(join(directory, 'claim.json'))) && !(await exists(join(directory, 'tombstone')));
    if (!isWanted) stopping.abort({ code: 'TERMINATED', text: 'This instance has been terminated.' });
  };
  await look();
  setInterval(() => void look(), checkEveryMs).unref();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
