// `npm run bench -- NAME...`: measures and prints the results. Each bench runs its comparison in the same run, interleaved
// where possible, so that a busy machine slows both. No bench is a test: none can fail for being slow.
import { parseArgs } from 'node:util';

import type { BenchOptions } from './options.ts';
import { circumstances, createReport, load, writeResult } from './report.ts';
import type { Report } from './report.ts';

export type Bench = (report: Report, options: BenchOptions) => Promise<void>;

/** Loaded on demand: some bring a Temporal SDK with them. */
const benches: Record<string, { about: string; load: () => Promise<Bench> }> = {
  dask: {
    about: 'a Dask cluster of 2 workers: request to first result, against the same by hand and LocalCluster',
    load: async () => (await import('./dask/bench.ts')).daskBench,
  },
  adaptive: {
    about: 'adaptive scaling of a Dask cluster: from load applied to target changed, against LocalCluster().adapt()',
    load: async () => (await import('./dask/adaptive.ts')).adaptiveBench,
  },
  tasks: {
    about:
      '10,000 and 100,000 no-op tasks (or --tasks N, in one job) through 1,000 simulated agents, against one activity per task',
    load: async () => (await import('./tasks/bench.ts')).tasksBench,
  },
  batch: {
    about: '10,000 real `true` tasks on local agents, against GNU parallel and xargs -P',
    load: async () => (await import('./batch.ts')).batchBench,
  },
  peers: {
    about:
      '1,000 x true and 200 x one second: Slurm job array, GNU parallel, xargs -P, client.map (root, slurm-wlm, parallel)',
    load: async () => (await import('./peers/bench.ts')).peersBench,
  },
  submit: {
    about: 'from the request for a job to its first task running',
    load: async () => (await import('./submit.ts')).submitBench,
  },
  creates: {
    about: '100 jobs (or --jobs N) created at the same moment',
    load: async () => (await import('./creates.ts')).createsBench,
  },
  burst: {
    about: '1,000 one-task jobs (or --jobs N) created at once, on real local agents: seconds, instances launched',
    load: async () => (await import('./burst.ts')).burstBench,
  },
  store: {
    about: 'admissions, lists among 100,000 jobs and token lookups on SQLite and PostgreSQL',
    load: async () => (await import('./store/bench.ts')).storeBench,
  },
  idle: {
    about: 'what 200 idle clusters (or --clusters N) cost: CPU, memory, events per hour',
    load: async () => (await import('./idle.ts')).idleBench,
  },
  memory: {
    about: 'what the API takes under readers who do not read and bodies that come slowly',
    load: async () => (await import('./memory.ts')).memoryBench,
  },
  watchers: {
    about: 'what 1,000 pages with an open stream (or --watchers N) cost the API: CPU and memory',
    load: async () => (await import('./watchers.ts')).watchersBench,
  },
  neighbours: {
    about: 'times of one workspace while another one sends what costs the API most, with and without: p50, p99, ratios',
    load: async () => (await import('./neighbours/bench.ts')).neighboursBench,
  },
  denials: {
    about: 'whether the time of a refusal reveals what it must not',
    load: async () => (await import('./denials.ts')).denialsBench,
  },
  replay: {
    about: 'what a replay of 3,000 events costs, against the SDK as it comes',
    load: async () => (await import('./replay.ts')).replayBench,
  },
  restart: {
    about: 'how long a restart of the Temporal worker stops 60 jobs (or --jobs N) with long histories (or --events N)',
    load: async () => (await import('./restart.ts')).restartBench,
  },
  environment: {
    about: 'a Python environment: built, fetched as an archive, found; against uv pip sync by hand',
    load: async () => (await import('./environment.ts')).environmentBench,
  },
  ec2: {
    about: 'a Dask cluster of 1,000 workers on an emulated EC2, against one RunInstances for each',
    load: async () => (await import('./ec2/bench.ts')).ec2Bench,
  },
  gcp: {
    about: 'a Dask cluster of 1,000 workers on an emulated Compute Engine, against one instances.insert for each',
    load: async () => (await import('./gcp/bench.ts')).gcpBench,
  },
};

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      clusters: { type: 'string' },
      jobs: { type: 'string' },
      events: { type: 'string' },
      tasks: { type: 'string' },
      watchers: { type: 'string' },
      small: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.filter((name) => !(name in benches));
  if (positionals.length === 0 || unknown.length > 0) {
    const known = Object.entries(benches).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
    process.stderr.write(
      `Usage: npm run bench -- [--rounds N] [--clusters N] [--jobs N] [--events N] [--tasks N] [--watchers N] [--small] NAME...\n${known.join('\n')}\n`,
    );
    process.exitCode = 2;
    return;
  }
  const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const { rounds, clusters, jobs, events, tasks, watchers } = values;
  const options = {
    ...{ rounds: numberOf(rounds), clusters: numberOf(clusters), jobs: numberOf(jobs), events: numberOf(events) },
    ...{ tasks: numberOf(tasks), watchers: numberOf(watchers) },
    small: values.small,
  };
  for (const name of positionals) {
    const bench = await benches[name]?.load();
    const before = circumstances();
    process.stdout.write(`${name}   ${JSON.stringify(before)}\n`);
    const report = createReport((line) => process.stdout.write(`${line}\n`));
    await bench?.(report, options);
    const path = await writeResult(name, { ...before, loadAfter: load(), figures: report.figures() });
    process.stdout.write(`  load afterwards ${load()}; all values in ${path}\n`);
  }
}

await main();
