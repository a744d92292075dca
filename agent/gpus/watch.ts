// Reads the utilization of this instance's GPUs, and reports when some have been idle for long, and when they work again.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { gpuReport, noteReading, parseUtilization, type GpuReport, type GpuUse } from '../../domain/gpu-use.ts';
import type { Log } from '../logs/log.ts';

export interface GpuWatch {
  /** A GPU that is idle for this long counts as unused. */
  idleAfterMs: number;
  /** PATH must contain nvidia-smi. */
  environment: Record<string, string | undefined>;
  log: Pick<Log, 'write'>;
  signal: AbortSignal;
  /** `make` returns the state of the moment of sending. */
  notify: (make: () => GpuReport) => void;
}

const maxEveryMs = 30_000;
const readingsBeforeIdle = 10;
const programTimeoutMs = 20_000;
const query = ['--query-gpu=utilization.gpu', '--format=csv,noheader,nounits'];

/** Runs until the signal aborts. Never rejects. */
export async function watchGpus({ idleAfterMs, environment, log, signal, notify }: GpuWatch): Promise<void> {
  const everyMs = Math.min(maxEveryMs, idleAfterMs / readingsBeforeIdle);
  let use: GpuUse | null = null;
  let reported = '';
  let isTroubled = false;
  while (!signal.aborted) {
    const percents = await read(environment, signal).catch((error: unknown) => {
      if (!isTroubled && !signal.aborted) log.write(`The use of the GPUs is unknown: ${String(error).slice(0, 500)}`);
      isTroubled = true;
      return null;
    });
    const nowMs = performance.now();
    // Without a reading, the time in between is unknown.
    use = percents === null ? null : noteReading(use, percents, nowMs);
    if (use !== null) {
      const known: GpuUse = use;
      const { total, idle } = gpuReport(known, idleAfterMs, nowMs);
      const key = `${idle} of ${total}`;
      if (key !== reported && total > 0) notify(() => gpuReport(known, idleAfterMs, performance.now()));
      reported = key;
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

function read(environment: GpuWatch['environment'], signal: AbortSignal): Promise<(number | null)[]> {
  const options = { env: { PATH: environment['PATH'] }, timeout: programTimeoutMs, signal };
  return new Promise((resolve, reject) => {
    execFile('nvidia-smi', query, options, (error, stdout) => {
      if (error === null) resolve(parseUtilization(stdout));
      else reject(error);
    });
  });
}
