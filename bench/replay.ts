// The cost of a replay with platform/workflow-vm.ts and with Temporal's plain SDK: the same history of 3,000 events, in
// separate processes, one after the other.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';

const vm = new URL('../platform/workflow-vm.ts', import.meta.url).href;

export async function replayBench(report: Report, { small, rounds = 3 }: BenchOptions): Promise<void> {
  const times: Record<'sdk' | 'ours', number[]> = { sdk: [], ours: [] };
  const sleeps = small ? 60 : 600;
  for (let round = 0; round < rounds; round += 1) {
    times.sdk.push(replay([], sleeps));
    times.ours.push(replay(['--import', vm], sleeps));
  }
  const what = `a replay of ${sleeps * 5 + 5} events`;
  report.figure(`${what}, the SDK's way`, times.sdk, 'ms');
  report.figure(`${what}, with platform/workflow-vm.ts`, times.ours, 'ms');
  report.ratio('the SDK to ours', times.sdk, times.ours);
}

/** Milliseconds; the fastest of three, since the first compiles. */
function replay(options: string[], sleeps: number): number {
  const args = [...options, join(import.meta.dirname, 'replay-once.ts'), String(sleeps)];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
}
