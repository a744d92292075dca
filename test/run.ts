// `npm test` and, with --all, `npm run test:all`: the parts of a run one after the other; names of parts choose some of them, and
// `--share 2/3` or `--share today` a share of the files of the part `full`. Prints the counts of each part and, as the last line,
// the counts of everything. Exit code 1 when anything failed, or when nothing ran.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

import { type Counts, line, none, parseLine, sum } from './runner/counts.ts';
import { fullFiles, subjects } from './runner/full-files.ts';
import { root, runProgram, tool } from './runner/run-program.ts';
import { filesOfShare, parseShare, shareCount } from './runner/shares.ts';
import { runVitestProject } from './runner/vitest-project.ts';
import { fuzzSeed } from './support/fuzz-options.ts';

type Part = [name: string, run: () => Promise<Counts>];

/** For each commit: at most 8 minutes on two cores. */
const usual: Part[] = [
  ['checks', checks],
  ['unit', () => runVitestProject('unit')],
  ['isolated', () => runVitestProject('isolated')],
  ['integration', () => runVitestProject('integration')],
];

/** The rest, for CI and nightly runs. CONTRIBUTING.md has the seconds of each part, and the parts that CI runs. */
function theRest(share: number | null): Part[] {
  const chosen = process.env['ROPEWALK_FUZZ_SEED'] ?? '';
  const seed = String(chosen === '' ? randomInt(0x7fff_ffff) : fuzzSeed(process.env));
  console.log(`random seed ${seed}: ROPEWALK_FUZZ_SEED=${seed} repeats it`);
  const env = { ROPEWALK_FUZZ_SEED: seed };
  const files = fullFiles(root);
  return [
    ['simulation', () => runVitestProject('simulation', { env: { ...env, ROPEWALK_SIMULATION_RUNS: '10000' } })],
    ...Object.entries(subjects).map(([name, filters]): Part => [
      name,
      () => runVitestProject('full', { filters, env }),
    ]),
    ['full', () => runVitestProject('full', { filters: share === null ? files : filesOfShare(files, share), env })],
    [
      'dask-older',
      () => runVitestProject('integration', { filters: ['test/dask'], env: { ROPEWALK_TEST_DASK: 'older' } }),
    ],
    // Kills of each process and of all at once.
    ['crash', () => runVitestProject('chaos', { filters: ['test/chaos/crash', 'test/chaos/matrix-ledger'] })],
    // Full disks, foreign answers, sick instances, stopped processes, clock steps.
    ['faults', () => runVitestProject('chaos', { filters: ['test/chaos/faults'] })],
    // Crashes of Dask clusters, and a sample of the kill matrix; `npm run chaos` kills three of each kind, `npm run test:chaos`
    // runs the whole matrix.
    [
      'chaos',
      () =>
        runVitestProject('chaos', { filters: ['test/chaos/dask', 'test/chaos/matrix.', 'test/chaos/matrix-clouds'] }),
    ],
    ['mutation', () => script('mutation', 'test/mutation/main.ts')],
    ['images', images],
  ];
}

async function main(args: string[]): Promise<void> {
  const { values, positionals: chosen } = parseArgs({
    args,
    options: { all: { type: 'boolean', default: false }, share: { type: 'string' } },
    allowPositionals: true,
  });
  const share = values.share === undefined ? null : parseShare(values.share, Date.now());
  if (share !== null && !(values.all && (chosen.length === 0 || chosen.includes('full')))) {
    throw new Error('--share is for the part full of `npm run test:all`');
  }
  if (share !== null) console.log(`share ${share} of the part full: --share ${share}/${shareCount} repeats it`);
  const all = values.all ? theRest(share) : usual;
  const unknown = chosen.filter((name) => !all.some(([known]) => known === name));
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: ${all.map(([name]) => name).join(', ')}`);
  const results: [name: string, counts: Counts, seconds: number][] = [];
  for (const [name, run] of all.filter(([known]) => chosen.length === 0 || chosen.includes(known))) {
    console.log(`\n== ${name}`);
    const startedAtMs = performance.now();
    const counts = await run();
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    results.push([name, counts, seconds]);
    console.log(`== ${name}: ${line(counts)}, ${seconds} s`);
  }
  const total = sum(results.map(([, counts]) => counts));
  console.log('');
  for (const failure of total.failures) console.log(`FAILED ${failure}\n`);
  for (const [name, counts, seconds] of results) console.log(`${name.padEnd(12)} ${line(counts)}, ${seconds} s`);
  console.log(line(total));
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** Format, lint and types at the same time: each uses about one core. */
async function checks(): Promise<Counts> {
  const programs: [string, string[]][] = [
    ['oxfmt', ['--check']],
    ['oxlint', []],
    ['tsc', ['--noEmit']],
  ];
  return sum(
    await Promise.all(
      programs.map(async ([name, args]) => {
        const { code, output } = await runProgram(tool(name), args, { quiet: true });
        if (code !== 0) console.log(output);
        const failures = code === 0 ? [] : [`${[name, ...args].join(' ')}: exit code ${code}`];
        return { ...none, passed: 1 - failures.length, failed: failures.length, failures };
      }),
    ),
  );
}

/** Builds and runs the container images: as root, with podman, runc and debootstrap. */
async function images(): Promise<Counts> {
  const programs = ['podman', 'runc', 'debootstrap'];
  const found = await Promise.all(programs.map((name) => runProgram('which', [name], { quiet: true })));
  if (process.getuid?.() !== 0 || found.some(({ code }) => code !== 0)) {
    console.log(`skipped: the images are built as root, with ${programs.join(' and ')}`);
    return { ...none, skipped: 1 };
  }
  const { code } = await runProgram(process.execPath, ['test/images/main.ts']);
  return code === 0 ? { ...none, passed: 1 } : { ...none, failed: 1, failures: [`images: exit code ${code}`] };
}

/** A script that ends with a line of counts. */
async function script(name: string, path: string): Promise<Counts> {
  const { code, output } = await runProgram(process.execPath, [path]);
  const counts = parseLine(output);
  if (counts === null || (code !== 0 && counts.failed === 0)) {
    return { ...none, failed: 1, failures: [`${name}: exit code ${code}`] };
  }
  return { ...counts, failures: counts.failed > 0 ? [`${name}: see its output above`] : [] };
}

await main(process.argv.slice(2));
