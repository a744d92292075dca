// One of many processes on the same cache, started together by the appearance of a file. A user takes each environment in an
// order of its own, prints those it found and lives until its standard input ends; a cleaner prints those it removed.
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { cleanEnvironments } from '../../agent/runtimes/environment/clean.ts';
import { use } from '../../agent/runtimes/environment/in-use.ts';
import { eventually } from '../support/eventually.ts';

const [role = '', cacheDir = '', go = ''] = process.argv.slice(2);
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const print = (names: string[]): void => void process.stdout.write(`${JSON.stringify(names)}\n`);

const hashes = await readdir(join(cacheDir, 'environments'));
process.stdout.write('ready\n');
await eventually(() => isThere(go), { timeoutMs: 60_000, intervalMs: 1 });
if (role === 'clean') print(await cleanEnvironments(cacheDir));
else {
  const found: string[] = [];
  for (const hash of hashes.toSorted(() => Math.random() - 0.5)) {
    await use(cacheDir, hash, undefined);
    if (await isThere(join(cacheDir, 'environments', hash))) found.push(hash);
  }
  print(found);
  await text(process.stdin);
}
