// `npm run fuzz`: the random worlds and their mutants with seeds that nobody has tried, until the rounds are over or one
// fails. Prints each seed before it is tried, and how to run a failed one again. Never part of `npm test`.
//   npm run fuzz -- [--rounds 10] [--times 3] [--seed 42]
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    times: { type: 'string', default: '3' },
    seed: { type: 'string' },
  },
});
const files = ['test/domain', 'test/platform/objects', 'test/services/group-commit'];

const rounds = values.seed === undefined ? Number(values.rounds) : 1;
for (let round = 1; round <= rounds && process.exitCode === undefined; round += 1) {
  const seed = values.seed ?? String(randomInt(0x7fff_ffff));
  console.log(`\n== round ${round} of ${rounds}: seed ${seed}, ${values.times} times the usual number of worlds`);
  if ((await tryOut(seed, values.times)) === 0) continue;
  console.error(`\nseed ${seed} fails: npm run fuzz -- --seed ${seed} --times ${values.times}`);
  process.exitCode = 1;
}

function tryOut(seed: string, times: string): Promise<number> {
  return new Promise((resolve) => {
    const root = join(import.meta.dirname, '..');
    const child = spawn(join(root, 'node_modules/.bin/vitest'), ['run', '--project', 'unit', ...files], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ROPEWALK_FUZZ_SEED: seed, ROPEWALK_FUZZ_TIMES: times },
    });
    child.once('error', (error) => {
      console.error(`cannot run vitest: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
