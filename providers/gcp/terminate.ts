// Deletes instances and waits for the operations. Instances that lists do not show yet are found by the operations that created
// them.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { Owner } from '../provider.ts';
import type { GcpClients } from './clients.ts';
import { requestDelete } from './delete-instance.ts';
import { findByNames } from './describe.ts';
import { isOwnName } from './names.ts';
import { errorOf, historyOf, waitForZone } from './operations.ts';
import type { Operation } from './operations.ts';

const pollMs = 500;
/** Concurrent deletions; the API allows 1,500 calls a minute. */
const concurrency = 20;

/** Never touches another owner's instances. Resolves when every other instance of `ids` is deleted. */
export async function terminateOwned(
  clients: GcpClients,
  owner: Owner,
  ids: string[],
  signal: AbortSignal,
  { unseenMs }: { unseenMs: number },
): Promise<void> {
  signal.throwIfAborted();
  const startedMs = performance.now();
  let wanted = [...new Set(ids.filter((id) => isOwnName(owner, id)))];
  while (wanted.length > 0) {
    const shown = await findByNames(clients, owner, wanted);
    const zones = new Map(shown.map(({ name, zone }) => [name, zone]));
    const missing = wanted.filter((name) => !zones.has(name));
    const histories = await historyOf(clients, owner, missing);
    // An ended instance may still exist, stopped.
    for (const [name, { zone }] of histories) zones.set(name, zone);
    const located = wanted.filter((name) => zones.has(name));
    for (let from = 0; from < located.length; from += concurrency) {
      signal.throwIfAborted();
      await Promise.all(
        located.slice(from, from + concurrency).map((name) => remove(clients, zones.get(name) ?? '', name, signal)),
      );
    }
    // Lists of instances and operations both lag behind a launch.
    if (performance.now() - startedMs >= unseenMs) return;
    wanted = wanted.filter((name) => !zones.has(name));
    if (wanted.length > 0) await sleep(pollMs, undefined, { signal });
  }
}

/** @throws RopewalkError for an instance that may still exist; the caller repeats the deletion. */
function requireDeleted(name: string, operation: Operation): void {
  const error = errorOf(operation);
  if (error === null || error.code === 'RESOURCE_NOT_FOUND') return;
  const message = `Google Cloud did not delete the instance ${name}: ${error.code}: ${error.message}`;
  throw new RopewalkError({ code: 'UNAVAILABLE', message });
}

async function remove(clients: GcpClients, zone: string, name: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const operation = await requestDelete(clients, zone, name);
    if (operation === null) return;
    if (operation !== 'busy') return requireDeleted(name, await waitForZone(clients, zone, operation, signal));
    await sleep(pollMs, undefined, { signal });
  }
}
