// A worker instance of a Dask cluster: runs one Dask worker for the scheduler that its orders name.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { untilAborted } from '../async/aborted.ts';
import { DaskFailure, orFail } from './failure.ts';
import type { DaskLife } from './context.ts';
import type { Setup } from './setup.ts';
import { workerProcess } from './commands.ts';
import { workerSettings } from './worker-settings.ts';
import { freshPath, makePassable } from '../processes/hand-over.ts';

/** The scheduler already runs; Python needs the time, on a machine that starts many workers together. */
const registerTimeoutMs = 120_000;
/** Dask closes a drained worker, and its instance is ended soon after. An instance that remains longer has failed. */
const closedForMs = 15_000;

export async function runWorker(life: DaskLife, setup: Setup): Promise<void> {
  const { input, bundle, orders, name, work, notify } = life;
  const { signal } = input.stopping;
  const hasOptions = Object.keys(bundle.workerOptions).length > 0;
  const found = orders.when((latest) => latest.schedulerAddress);
  // Python needs a second to start: it starts together with the scheduler, and then waits for this file.
  const file =
    bundle.workerClass === null && !hasOptions
      ? join(await makePassable(input.user, freshPath(work, 'address')), 'scheduler.json')
      : null;
  const scheduler = file === null ? await found.then((address) => address && { address }) : { file };
  if (!scheduler) return;
  notify('starting', 'dask');
  const command = workerProcess({
    ...life.place(setup),
    scheduler,
    name,
    ...workerSettings(bundle),
  });
  const seen: { address: string | null } = { address: null };
  const running = await life.start(setup, command, (line) => (seen.address ??= addressIn(line)));
  try {
    const schedulerAddress = await orFail('WORKER_FAILED', running.orEnded(found));
    if (schedulerAddress === null) {
      // This worker has no scheduler and no data, so there is nothing to wait for.
      await running.end(0);
      return;
    }
    if (file !== null) await writeWhole(file, JSON.stringify({ address: schedulerAddress }));
    const registered = orFail(
      'WORKER_FAILED',
      running.whenRegistered(registerTimeoutMs, bundle.workersPerInstance),
    ).then(() => true);
    if (!(await Promise.race([registered, untilAborted(signal).then(() => false)]))) return;
    input.log.write(`The worker ${name} is registered with ${schedulerAddress}.`);
    notify('started', 'dask', { address: seen.address });
    const end = await life.untilEnded(running);
    if (end === null) return;
    if (end.code === 'CLOSED') {
      notify('stopping', 'closed', { address: seen.address });
      await sleep(closedForMs, undefined, { signal });
    }
    throw new DaskFailure('PROCESS_EXITED', `The Dask worker ended: ${end.text}`);
  } finally {
    await life.end(running);
  }
}

/** Written atomically, because Dask reads the file as soon as it exists. */
async function writeWhole(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o644, flag: 'wx' });
  await rename(`${path}.new`, path);
}

const addressIn = (line: string): string | null => /Start worker at: +(\S+)/.exec(line)?.[1]?.slice(0, 255) ?? null;
