// Mutation tests of domain/ by StrykerJS: it changes operators, conditions and blocks one at a time, and the tests of domain/
// must detect each. Prints each folder's score and fails below its threshold (thresholds.ts). `npm run test:all` runs the part of
// the day; by hand:
//   npm run test:mutation -- [--shard 0..4] [--all] [--files domain/job/exchange.ts,...] [--survivors]
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { type FolderScore, mutationReport, percent, scoresByFolder } from './report.ts';
import { domainFiles, filesOfShard, shardCount, shardOfDay } from './shards.ts';
import { thresholds } from './thresholds.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    shard: { type: 'string' },
    all: { type: 'boolean', default: false },
    files: { type: 'string' },
    survivors: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const shard = values.shard === undefined ? shardOfDay(Date.now()) : Number(values.shard);
  const files = values.files?.split(',') ?? (values.all ? domainFiles(root) : filesOfShard(root, shard));
  if (files.length === 0) throw new Error(`there is no shard ${values.shard}: shards are 0 to ${shardCount - 1}`);
  console.log(`mutating ${files.length} files${values.all ? '' : `, part ${shard} of 0 to ${shardCount - 1}`}`);
  const scores = await mutate(files);
  const below = scores.filter((score) => percent(score) < thresholdOf(score));
  for (const score of values.survivors ? scores : below) for (const text of score.survivors) console.log(text);
  for (const score of scores) {
    const share = percent(score).toFixed(1);
    console.log(
      `${score.folder}: ${score.noticed} of ${score.total} noticed, ${share} %, wanted ${thresholdOf(score)} %`,
    );
  }
  console.log(`${scores.length - below.length} passed, ${below.length} failed, 0 skipped`);
  process.exitCode = below.length > 0 || scores.length === 0 ? 1 : 0;
}

const thresholdOf = ({ folder }: FolderScore): number => thresholds[folder] ?? thresholds['other'] ?? 0;

async function mutate(files: readonly string[]): Promise<FolderScore[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ropewalk-mutation-'));
  try {
    const fileName = join(folder, 'report.json');
    await writeFile(
      join(folder, 'stryker.json'),
      JSON.stringify({ ...settings, mutate: files, jsonReporter: { fileName } }),
    );
    await run('stryker', ['run', join(folder, 'stryker.json')]);
    return scoresByFolder(mutationReport.parse(JSON.parse(await readFile(fileName, 'utf8'))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** https://stryker-mutator.io/docs/stryker-js/configuration */
const settings = {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // The first run takes a minute on a quiet machine, and much longer beside other work.
  dryRunTimeoutMinutes: 20,
  reporters: ['json'],
  logLevel: 'warn',
  // Texts for users are not rules; codes are closed unions, which the compiler checks.
  mutator: { excludedMutations: ['StringLiteral'] },
  // A constant is computed once, before a mutant can be switched on.
  ignoreStatic: true,
  disableTypeChecks: false,
  // StrykerJS rewrites tsconfig.json by an interface of TypeScript that version 7 no longer has; Vitest needs none.
  tsconfigFile: 'none.json',
  ignorePatterns: ['/docs', '/examples', '/python', '/test/replay'],
  allowConsoleColors: false,
};

function run(name: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules', '.bin', name), args, { cwd: root, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}`))));
  });
}

await main();
