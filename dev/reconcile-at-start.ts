// Compares the database with the workflows while the stack starts, after one of the two was lost.
import type { Client } from '@temporalio/client';

import type { ReconcileReport } from '../contracts/reconcile.ts';
import { RopewalkError } from '../domain/errors.ts';
import { plural } from '../ops/plural.ts';
import { reconcileNow } from '../ops/reconcile.ts';

export interface Comparing {
  client: Client;
  say: (line: string) => void;
  /** Throws once the stack is being stopped. */
  requireStarting: () => void;
  /** Path of Temporal's database. */
  database: string;
}

/** For a new database and an earlier Temporal. */
export async function addKnownWorkflows(comparing: Comparing): Promise<void> {
  const { say, database } = comparing;
  const { last, reports } = await compareUntil(comparing, ({ unknown }) => unknown.length === 0);
  const { refusal, unknown } = last;
  if (refusal !== null) {
    throw new RopewalkError({
      code: 'UNAVAILABLE',
      message: `the database is new, and the open workflows of the earlier one could not be added to it: ${refusal}`,
      hint: `Start again. If the error remains, restore the earlier database, or move ${database} away as well.`,
    });
  }
  const added = new Set(reports.flatMap(({ adopted }) => adopted));
  say(`the database is new, and Temporal is not: added ${plural(added.size, 'workflow')} of an earlier database`);
  if (unknown.length > 0) say(`could not add ${unknown.join(', ')}: "ropewalk reconcile" tries again`);
}

/** For a new Temporal namespace and an earlier database. The schedule of the reconciliation ends what this leaves open. */
export async function endLostWork(comparing: Comparing): Promise<void> {
  const { say } = comparing;
  const isDone = ({ unknown, waiting }: ReconcileReport): boolean => unknown.length + waiting.length === 0;
  const { last, reports } = await compareUntil(comparing, isDone);
  const ended = new Set(reports.flatMap(({ finalized }) => finalized));
  if (ended.size > 0) say(`ended without their workflow: ${[...ended].join(', ')}`);
  const left = last.refusal === null ? [...last.unknown, ...last.waiting] : [last.refusal];
  if (left.length > 0) say(`not ended yet: ${left.join(', ')}; "ropewalk reconcile" tries again`);
}

/**
 * Repeats a comparison that was refused or is not done: Temporal or a workflow did not answer in time, which is usual on a busy machine while every
 * workflow is replayed after a start.
 */
async function compareUntil(
  { client, requireStarting }: Comparing,
  isDone: (report: ReconcileReport) => boolean,
): Promise<{ last: ReconcileReport; reports: ReconcileReport[] }> {
  const reports: ReconcileReport[] = [];
  for (;;) {
    const { report: last } = await reconcileNow(client, client.options.namespace, { dryRun: false });
    reports.push(last);
    if (reports.length === maxRounds || (last.refusal === null && isDone(last))) return { last, reports };
    requireStarting();
  }
}

/** Comparisons of the database with workflows in one start; each gives up on workflows that do not answer within ten seconds. */
const maxRounds = 6;
