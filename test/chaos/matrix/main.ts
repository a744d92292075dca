// `npm run test:chaos -- --minutes 45 --seed 7`: the kill matrix until its time is up, then its report; exit code 1 when a
// promise was broken, or when a planned fault did not happen. `--provider aws` and `gcp` run it on emulated clouds, `--scenarios
// grow,sweep` selects scenarios, `--faults 6` plans more faults in each life.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { isGround } from './bed.ts';
import { allScenarios, runMatrix } from './matrix.ts';
import { inWords } from './report.ts';

const { values } = parseArgs({
  options: {
    provider: { type: 'string', default: 'local' },
    scenarios: { type: 'string' },
    minutes: { type: 'string', default: '45' },
    seed: { type: 'string', default: '20261121' },
    'at-once': { type: 'string', default: '6' },
    workers: { type: 'string', default: '2' },
    faults: { type: 'string', default: '4' },
    sample: { type: 'string' },
  },
});

const { provider } = values;
if (!isGround(provider)) throw new Error(`--provider is local, aws or gcp, not ${provider}`);
const wanted = values.scenarios?.split(',');

// The first SIGINT lets the running lives end and prints the report of the finished ones; a second one ends the process at once.
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());

const report = await runMatrix({
  provider,
  ...(wanted === undefined ? {} : { scenarios: allScenarios.filter((name) => wanted.includes(name)) }),
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  atOnce: Number(values['at-once']),
  workers: Number(values.workers),
  faultsInALife: Number(values.faults),
  stopping: stopping.signal,
  ...(values.sample === undefined ? {} : { sample: Number(values.sample) }),
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
const results = join(import.meta.dirname, '../../../test-results');
mkdirSync(results, { recursive: true });
writeFileSync(join(results, `kill-matrix-${provider}.json`), `${JSON.stringify(report, null, 2)}\n`);
console.log(`\n${inWords(report)}`);
const isBroken = report.violations.length + report.notInjected.length > 0 || report.kills.worker === 0;
process.exitCode = isBroken ? 1 : 0;
