// An instance's name belongs to the first agent that links a complete claim.json into its directory. Launches may be
// repeated and may race; the kernel decides, once. The tombstone is the other half: written by the process that
// ends the instance, it makes an agent that starts too late end itself.
import { randomBytes } from 'node:crypto';
import { access, link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startTimeOf } from '../processes/start-time.ts';

/** How often the tombstone is looked for: the provider also signals, so this is only for what slipped through. */
const checkEveryMs = 2_000;

/** False when another agent is this instance already. */
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

/** Looks for the tombstone at once, and then as long as the process lives. A directory that is gone says the same. */
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
