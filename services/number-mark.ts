// Numbers identify jobs and clusters outside the database too: in the logs of instances, in a cloud's tags, in the object store. A new database would
// assign them again, and the number of a job would lead to the logs of another one. The object store therefore keeps a mark: the deployment and
// database that assigned numbers, and an upper bound of all of them.
import { z } from 'zod';

import type { Deps } from './context.ts';
import { parseObject } from './damaged-objects.ts';

type Marking = Pick<Deps, 'store' | 'objects' | 'logger' | 'damaged'>;

export const numberMarkKey = 'deployment/numbers.json';

/** How far the mark is ahead of the newest number, so it is rarely written. */
const ahead = 1_000;

const mark = z.object({
  v: z.literal(1),
  deploymentId: z.string(),
  /** When the deployment claimed the database; unique among the databases of a deployment. */
  databaseSinceMs: z.number(),
  /** All assigned numbers are below it. */
  below: z.number().int(),
});
type Mark = z.output<typeof mark>;

/** Called before the first request of a process: a database other than that of the mark continues from the mark. */
export async function continueNumbers(deps: Marking): Promise<void> {
  const deployment = await deps.store.deployment.read();
  const known = await readMark(deps);
  if (deployment === null || known === null) return;
  const isSame = known.deploymentId === deployment.deploymentId && known.databaseSinceMs === deployment.createdAtMs;
  if (isSame || deployment.nextNumber >= known.below) return;
  await deps.store.deployment.reserveNumbersTo(known.below - 1);
  deps.logger.warn(
    { from: known.below, deploymentId: known.deploymentId },
    'the database is not the one that gave out the numbers in the object store: new jobs and clusters are numbered after those',
  );
}

/** Advances the mark when the newest number approaches it. Returns the mark, which the caller passes to the next call. */
export async function moveMark(deps: Marking, below: number | null): Promise<number | null> {
  const deployment = await deps.store.deployment.read();
  if (deployment === null) return below;
  const { deploymentId, createdAtMs: databaseSinceMs, nextNumber } = deployment;
  if (below !== null && nextNumber + ahead / 2 <= below) return below;
  const next: Mark = { v: 1, deploymentId, databaseSinceMs, below: nextNumber + ahead };
  await deps.objects.put(numberMarkKey, Buffer.from(JSON.stringify(next)));
  return next.below;
}

async function readMark({ objects, damaged }: Marking): Promise<Mark | null> {
  const bytes = await objects.get(numberMarkKey);
  if (bytes === null) return null;
  return parseObject(numberMarkKey, bytes, { parse: (json) => mark.parse(json), report: damaged });
}
