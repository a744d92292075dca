// The listening addresses of a group's processes, from the kernel.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Addresses as in /proc/net/tcp: `0100007F` is 127.0.0.1, and all zeros is every interface. */
export function listeningAddresses(group: number): string[] {
  const inodes = new Set(processesOf(group).flatMap(socketInodes));
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
    readFileSync(table, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && inode !== undefined && inodes.has(inode))
      .map(([, local = '']) => local.split(':')[0] ?? ''),
  );
}

export function processesOf(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => groupOf(pid) === group);
}

function groupOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; its parent has not read its exit status yet.
    return state === 'Z' ? null : Number(group);
  } catch {
    return null;
  }
}

function socketInodes(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return [];
  }
}
