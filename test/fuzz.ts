// `npm run fuzz`: the simulations with random seeds, until all rounds have ended or one fails. Prints each seed before it is
// used, and how to run a failed one again.
//   npm run fuzz -- [--rounds 10] [--runs 10000] [--seed 42]
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
});

const rounds = values.seed === undefined ? Number(values.rounds) : 1;
for (let round = 1; round <= rounds && process.exitCode === undefined; round += 1) {
  const seed = values.seed ?? String(randomInt(0x7fff_ffff));
  console.log(`\n== round ${round} of ${rounds}: seed ${seed}, ${values.runs} runs of each simulation`);
  if ((await simulate(seed, values.runs)) === 0) continue;
  console.error(`\nseed ${seed} fails: npm run fuzz -- --seed ${seed} --runs ${values.runs}`);
  process.exitCode = 1;
}

function simulate(seed: string, runs: string): Promise<number> {
  return new Promise((resolve) => {
    const root = join(import.meta.dirname, '..');
    const child = spawn(join(root, 'node_modules/.bin/vitest'), ['run', '--project', 'simulation'], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ROPEWALK_FUZZ_SEED: seed, ROPEWALK_SIMULATION_RUNS: runs },
    });
    child.once('error', (error) => {
      console.error(`cannot run vitest: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
