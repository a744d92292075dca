// A worker instance of a Dask cluster: waits to be told where the scheduler is, and runs one Dask worker for it.
import { setTimeout as sleep } from 'node:timers/promises';

import { untilAborted } from './aborted.ts';
import { DaskFailure, orFail } from './dask-failure.ts';
import type { DaskLife } from './dask-life.ts';
import type { Setup } from './dask-setup.ts';
import { workerProcess } from './dask/processes.ts';

/** The scheduler is there already; what takes time is Python, on a machine that starts many workers at once. */
const registerTimeoutMs = 120_000;
/** A worker that was drained is closed by Dask, and its instance is ended soon after. Only what is left then is a failure. */
const closedForMs = 15_000;

export async function runWorker(life: DaskLife, setup: Setup): Promise<void> {
  const { input, bundle, orders, name, tell } = life;
  const { signal } = input.stopping;
  const schedulerAddress = await orders.when((latest) => latest.schedulerAddress);
  if (schedulerAddress === null) return;
  tell('starting', 'dask');
  const { workerClass, workerOptions } = bundle;
  const command = workerProcess({
    ...life.place(setup),
    schedulerAddress,
    name,
    ...(workerClass === null ? {} : { workerClass }),
    ...(Object.keys(workerOptions).length === 0 ? {} : { workerOptions }),
  });
  const seen: { address: string | null } = { address: null };
  const running = await life.start(command, (line) => (seen.address ??= addressIn(line)));
  try {
    const registered = orFail('WORKER_FAILED', running.whenRegistered(registerTimeoutMs)).then(() => true);
    if (!(await Promise.race([registered, untilAborted(signal).then(() => false)]))) return;
    input.log.write(`The worker ${name} is registered with ${schedulerAddress}.`);
    tell('started', 'dask', { address: seen.address });
    const end = await life.untilEnded(running);
    if (end === null) return;
    if (end.code === 'CLOSED') {
      tell('stopping', 'closed', { address: seen.address });
      await sleep(closedForMs, undefined, { signal });
    }
    throw new DaskFailure('PROCESS_EXITED', `The Dask worker ended: ${end.text}`);
  } finally {
    await life.end(running);
  }
}

const addressIn = (line: string): string | null => /Start worker at: +(\S+)/.exec(line)?.[1]?.slice(0, 255) ?? null;
