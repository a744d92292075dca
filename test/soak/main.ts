// `npm run soak -- batch` and `npm run soak -- cycles`: long runs against a real stack with simulated instances. Prints its
// findings as a line of JSON; exit code 1 when a promise was broken. `--small` runs a tenth of it.
import { parseArgs } from 'node:util';

import { soakBatch } from './batch.ts';
import { soakCycles } from './cycles.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { small: { type: 'boolean', default: false }, seed: { type: 'string', default: '20261121' } },
});
const share = values.small ? 0.1 : 1;
const runs: Record<string, () => Promise<{ violations: string[] }>> = {
  batch: () =>
    soakBatch({
      ...{ tasks: 10_000 * share, agents: 50, minTaskMs: 100, maxTaskMs: 5_000 },
      ...{ killShare: values.small ? 0.2 : 0.05, seed: Number(values.seed) },
    }),
  cycles: () => soakCycles({ cycles: 1_000 * share, atOnce: 8 }),
};

const run = runs[positionals[0] ?? ''];
if (run === undefined) {
  process.stderr.write(`Usage: npm run soak -- [--small] [--seed N] ${Object.keys(runs).join(' | ')}\n`);
  process.exitCode = 2;
} else {
  const found = await run();
  process.stdout.write(`${JSON.stringify(found)}\n`);
  if (found.violations.length > 0) process.exitCode = 1;
}
