// Writes default-lock.json: every package of the default environment, including dependencies, with its version on each Python
// and the hashes of its files. Run `node agent/runtimes/environment/default-lock-write.ts PATH-OF-UV` after a change of
// default-requirements.ts.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

import { defaultRequirements } from './default-requirements.ts';

const [, , uv] = process.argv;
if (uv === undefined) {
  process.stderr.write('usage: node agent/runtimes/environment/default-lock-write.ts PATH-OF-UV\n');
  process.exit(2);
}
const options = ['--universal', '--generate-hashes', '--python-version', '3.10', '--no-annotate', '--no-header'];
const compiled = spawnSync(uv, ['pip', 'compile', '--quiet', ...options, '-'], {
  input: `${defaultRequirements.join('\n')}\n`,
  encoding: 'utf8',
});
if (compiled.status !== 0) throw new Error(compiled.stderr);
const packages: Record<string, string[]> = {};
let hashes: string[] = [];
for (const line of compiled.stdout.split('\n')) {
  const hash = /^ +--hash=sha256:([0-9a-f]{64})/.exec(line)?.[1];
  if (hash !== undefined) hashes.push(hash);
  else if (line.trim() !== '') packages[line.replace(/ \\$/, '').trim()] = hashes = [];
}
await writeFile(new URL('default-lock.json', import.meta.url), `${JSON.stringify(packages, null, 1)}\n`);
