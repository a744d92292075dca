// An environment's requirements of an instance besides its own directory. It links to its interpreter by a path, and its
// compiled packages need the C library that they were built with.
import { readFile } from 'node:fs/promises';

import type { Python } from '../python.ts';

export async function platformOf({ executable, version, platform, libc }: Python): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const value = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? '-';
  const described = `${value('ID')} ${value('VERSION_ID')}, ${libc}, ${platform} ${version}, ${executable}`;
  return described.replaceAll(/[^\x20-\x7e]/g, '?').slice(-400);
}
