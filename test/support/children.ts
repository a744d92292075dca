// The living children of a process, by a part of their command line. Linux only.
import { readdir, readFile } from 'node:fs/promises';

export async function childrenOf(parent: number, part: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // After the name, which may contain anything: state, parent.
    const [state, owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(owner) !== parent || state === 'Z') continue;
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(part)) found.push(pid);
  }
  return found;
}
