// Checks of the home directory: its existence, its permissions, its free space.
import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

export async function checkHome({ home }: Patient): Promise<Finding[]> {
  const mode = await modeOf(home);
  if (mode === null) {
    return [warning('home', `${home} is not there yet`, 'ropewalk dev or ropewalk login makes it.')];
  }
  const shared = (mode & 0o022) !== 0;
  const findings = shared
    ? [broken('home', `other users can write to ${home}`, `Run: chmod 700 ${home}`)]
    : [ok('home', home)];
  for (const name of ['keys.json', 'config.yaml']) {
    const path = join(home, name);
    const found = await modeOf(path);
    if (found !== null && (found & 0o077) !== 0) {
      findings.push(broken(name, 'other users of this machine can read it', `Run: chmod 600 ${path}`));
    } else if (found !== null) findings.push(ok(name, 'private'));
  }
  return findings;
}

const gigabyte = 1e9;
const enoughBytes = 5 * gigabyte;
const littleBytes = gigabyte;

export async function checkDisk({ home }: Patient): Promise<Finding[]> {
  const { bavail, bsize } = await statfs((await modeOf(home)) === null ? dirname(home) : home);
  return [diskFinding(bavail * bsize)];
}

export function diskFinding(freeBytes: number): Finding {
  const text = `${(freeBytes / gigabyte).toFixed(1)} GB free`;
  const fix = 'Logs, Python environments and the archive lie in the home: make room, or choose another ROPEWALK_HOME.';
  if (freeBytes < littleBytes) return broken('disk', text, fix);
  return freeBytes < enoughBytes ? warning('disk', text, fix) : ok('disk', text);
}

async function modeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (found) => found.mode,
    () => null,
  );
}
