// How long commits hold the event loop, also while another process writes to the same disk without pause.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Report } from '../report.ts';
import { quantile } from '../statistics.ts';

const writers = 8;
const pauseMs = 5;

/** `commit` is one durable transaction; `directory` is on the disk of the database. */
export async function loopBench(
  report: Report,
  {
    name,
    commit,
    directory,
    seconds,
  }: { name: string; commit: () => Promise<unknown>; directory: string; seconds: number },
): Promise<void> {
  for (const [beside, begin] of [
    ['alone', async () => async () => {}],
    ['beside a writing process', () => beginWriting(directory)],
  ] as const) {
    const end = await begin();
    try {
      const { times, heldMs } = await measure(commit, seconds);
      report.figure(`${name}: a commit of ${writers} writers, ${beside}, p50`, quantile(times, 0.5), 'ms');
      report.figure(`${name}: a commit of ${writers} writers, ${beside}, p99`, quantile(times, 0.99), 'ms');
      report.figure(`${name}: meanwhile the event loop is late, p99`, heldMs, 'ms');
    } finally {
      await end();
    }
  }
}

async function measure(commit: () => Promise<unknown>, seconds: number): Promise<{ times: number[]; heldMs: number }> {
  const times: number[] = [];
  const endMs = performance.now() + seconds * 1_000;
  const late = monitorEventLoopDelay({ resolution: 1 });
  late.enable();
  const write = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const startedAtMs = performance.now();
      await commit();
      times.push(performance.now() - startedAtMs);
      await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  late.disable();
  return { times: times.toSorted((a, b) => a - b), heldMs: late.percentile(99) / 1e6 };
}

/** Writes and syncs 64 MB again and again, until the returned function is called. */
async function beginWriting(directory: string): Promise<() => Promise<void>> {
  const loop = 'while :; do dd if=/dev/zero of="$0/hog" bs=1M count=64 conv=fsync 2>/dev/null; echo; done';
  const child = spawn('sh', ['-c', loop, directory], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.resume();
  return async () => {
    const ended = once(child, 'close');
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
}
