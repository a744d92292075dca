// An optional worker on the scheduler's instance. When it ends, it is restarted here, and the scheduler continues.
import { setTimeout as sleep } from 'node:timers/promises';

import { untilAborted } from '../../async/aborted.ts';
import { workerProcess } from '../commands.ts';
import type { DaskLife } from '../context.ts';
import type { Setup } from '../setup.ts';
import { extraWorkerName } from '../worker-name.ts';
import { workerSettings } from '../worker-settings.ts';
import { freshPath, removeDirectory } from '../../processes/hand-over.ts';

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
/** A quarter of the memory stays with the scheduler. */
const maxMemoryShare = 0.75;

/** Returns a function that ends it; it ends with the agent too. Never rejects. */
export function keepExtraWorker(life: DaskLife, setup: Setup, schedulerAddress: string): () => Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, life.input.stopping.signal]);
  const kept = keep(life, setup, schedulerAddress, signal);
  return async () => {
    over.abort();
    await kept;
  };
}

async function keep(life: DaskLife, setup: Setup, address: string, signal: AbortSignal): Promise<void> {
  const { input, bundle, session, work } = life;
  const { count: _, ...settings } = workerSettings(bundle);
  const memoryLimit = Math.min(maxMemoryShare, settings.memoryLimit === undefined ? 1 : Number(settings.memoryLimit));
  const name = extraWorkerName(session.registered().cluster.name);
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const command = workerProcess({
      ...life.place(setup),
      ...settings,
      ...{ name, memoryLimit, port: 0, directory: freshPath(work, 'extra-worker'), scheduler: { address } },
    });
    const text = await runOnce(life, setup, command, signal).catch((error: unknown) => String(error));
    if (signal.aborted) return;
    // The next worker cannot use its spilled data.
    await removeDirectory(command.cwd, input.user).catch(() => undefined);
    input.log.write(`The worker ${name} ended and starts again: ${text}`);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves with the reason of its end. */
async function runOnce(
  life: DaskLife,
  setup: Setup,
  command: Parameters<DaskLife['start']>[1],
  signal: AbortSignal,
): Promise<string> {
  const running = await life.start(setup, command);
  try {
    const end = await Promise.race([running.ended, untilAborted(signal).then(() => null)]);
    return end?.text ?? 'the agent stops';
  } finally {
    await life.end(running);
  }
}
