// Numbers name jobs and clusters beyond the database: in the logs of instances, in the tags of a cloud, in the object store. A new
// database would give them out again, and the number of a job would lead to the logs of another one. So the object store keeps a
// mark: which deployment and database gave out numbers, and below which number all of them are.
import { z } from 'zod';

import type { Deps } from './context.ts';
import { parseObject } from './damaged-objects.ts';

type Marking = Pick<Deps, 'store' | 'objects' | 'logger' | 'damaged'>;

export const numberMarkKey = 'deployment/numbers.json';

/** The mark is this far ahead of the newest number, so that it is written seldom. */
const ahead = 1_000;

const mark = z.object({
  v: z.literal(1),
  deploymentId: z.string(),
  /** When the deployment claimed the database: no two databases of a deployment have the same. */
  databaseSinceMs: z.number(),
  /** All numbers that were given out are below it. */
  below: z.number().int(),
});
type Mark = z.output<typeof mark>;

/** Before the first request of a process: a database that is not the one of the mark continues where that one may have been. */
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

/** Moves the mark when the newest number comes near it. Returns the mark; the caller hands it to the next call. */
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
