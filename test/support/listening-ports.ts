// The TCP ports on which a process listens, from Linux's /proc.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export async function listeningPorts(pid: number): Promise<number[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')));
  const inodes = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(1));
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    const isOwn = state === listen && inodes.has(inode);
    return isOwn ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

const listen = '0A';
