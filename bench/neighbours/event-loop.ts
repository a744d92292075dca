// Imported first by a bench's API: appends to the file of BENCH_EVENT_LOOP, each as a line,
// - `held MS`: the processor time of a stretch of a millisecond or more in which the main thread served no one, and
// - `served MS`: the processor time of the main thread from the sending of a request with the header `x-sent-at` to its answer.
// Unlike times by the clock, neither counts the time in which other processes had the core.
import { appendFile } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { isMainThread } from 'node:worker_threads';

const file = process.env['BENCH_EVENT_LOOP'];
const samples: { atMs: number; cpuMs: number }[] = [];
const keptSamples = 20_000;

function sample(): { atMs: number; cpuMs: number } {
  const { user, system } = process.threadCpuUsage();
  const now = { atMs: Date.now(), cpuMs: (user + system) / 1_000 };
  samples.push(now);
  if (samples.length > 2 * keptSamples) samples.splice(0, keptSamples);
  return now;
}

/** Between two samples it grows evenly. */
function cpuMsAt(atMs: number): number {
  const after = samples.findLastIndex((one) => one.atMs <= atMs) + 1;
  const [before, next] = [samples[after - 1], samples[after]];
  if (before === undefined || next === undefined) return next?.cpuMs ?? before?.cpuMs ?? 0;
  return before.cpuMs + ((next.cpuMs - before.cpuMs) * (atMs - before.atMs)) / (next.atMs - before.atMs);
}

function watch(target: string): void {
  const write = (line: string): void => appendFile(target, `${line}\n`, () => undefined);
  let { cpuMs: before } = sample();
  setInterval(() => {
    const { cpuMs } = sample();
    if (cpuMs - before >= 1) write(`held ${cpuMs - before}`);
    before = cpuMs;
  }, 1);
  subscribe('http.server.response.finish', (message) => {
    if (typeof message !== 'object' || message === null || !('request' in message)) return;
    const { request } = message;
    if (!(request instanceof IncomingMessage)) return;
    const sentAtMs = Number(request.headers['x-sent-at']);
    if (sentAtMs > 0) write(`served ${sample().cpuMs - cpuMsAt(sentAtMs)}`);
  });
}

if (file !== undefined && isMainThread && process.argv[1]?.endsWith('/api/server.ts') === true) watch(file);
