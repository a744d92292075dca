// Resource usage of processes, from the kernel's own accounts.
import { readFile } from 'node:fs/promises';

/** USER_HZ: the kernel reports times to user space in hundredths of a second, on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** Seconds of processor time so far, in user and system mode. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the command's name, which may contain anything: state is the third field, utime the 14th, stime the 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory in MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

/** The CPU seconds of several processes, by name; for each the difference since this was called. */
export async function cpuClock(pids: Record<string, number>): Promise<() => Promise<Record<string, number>>> {
  const read = async (): Promise<[string, number][]> =>
    Promise.all(
      Object.entries(pids).map(async ([name, pid]): Promise<[string, number]> => [name, await cpuSeconds(pid)]),
    );
  const before = Object.fromEntries(await read());
  return async () => Object.fromEntries((await read()).map(([name, now]) => [name, now - (before[name] ?? 0)]));
}
