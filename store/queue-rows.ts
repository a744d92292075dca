// The rows of the queue: waiting jobs and clusters, and the jobs that they wait for.
import type { QueueBook } from '../domain/admission/admit.ts';
import type { BatchOutcome } from '../domain/admission/batch.ts';
import { dependencyFailed, maxWaitingJobs, waitReason, type QueueEntry } from '../domain/admission/queue.ts';
import type { Engine } from './database.ts';
import type { AdmitItem } from './admission-port.ts';
import type { Db, RecordTable } from './tables.ts';

/** Numbers in one statement. */
const atOnce = 1_000;

/** The columns of a waiting job's or cluster's row that differ from other rows. */
export const waitingRecord = (reason: QueueEntry['reason']): Pick<RecordTable, 'state' | 'status' | 'refusal'> => ({
  state: 'waiting',
  status: 'waiting',
  refusal: JSON.stringify(reason),
});

/** Locks the awaited jobs, which cannot end before this transaction: their ends then find its rows. */
export async function readQueue(
  db: Db,
  { slug, engine }: { slug: string; engine: Engine },
  items: readonly AdmitItem[],
): Promise<QueueBook> {
  if (items.every(({ queue }) => queue === undefined)) return { isFull: false, awaited: new Map() };
  const { count } = await db
    .selectFrom('queue_entries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace', '=', slug)
    .executeTakeFirstOrThrow();
  const numbers = [...new Set(items.flatMap(({ queue }) => queue?.after.map(({ number }) => number) ?? []))];
  const awaited = new Map<number, string | null>();
  for (const some of chunks(numbers.toSorted((a, b) => a - b))) {
    const rows = await db
      .selectFrom('records')
      .select(['number', 'state', 'status'])
      .where('kind', '=', 'job')
      .where('workspace', '=', slug)
      .where('number', 'in', some)
      .orderBy('number')
      .$if(engine === 'postgres', (query) => query.forShare())
      .execute();
    for (const { number, state, status } of rows) awaited.set(number, state === 'ended' ? status : null);
  }
  return { isFull: count >= maxWaitingJobs, awaited };
}

export async function writeQueued(db: Db, workspace: string, made: BatchOutcome<AdmitItem>['made']): Promise<void> {
  const queued = made.flatMap(({ number, item, entry }) => (entry === null ? [] : [{ number, item, entry }]));
  if (queued.length === 0) return;
  await db
    .insertInto('queue_entries')
    .values(
      queued.map(({ number, item, entry }) => ({
        ...{ number, kind: item.kind, workspace, user_name: item.user, admission_id: item.admissionId },
        ...{ priority: item.queue?.priority ?? 0, instances: item.instances, vcpus: item.vcpus },
        worker_vcpus: item.workerVcpus,
        is_ready: entry.waits.length === 0 && entry.approval === null ? 1 : 0,
        awaits_approval: entry.approval === null ? 0 : 1,
        refusal: entry.isRefused ? JSON.stringify(entry.reason) : null,
        hold: null,
      })),
    )
    .execute();
  const waits = queued.flatMap(({ number, entry }) =>
    entry.waits.map((wait) => ({ number, awaited: wait.number, needs_success: wait.needsSuccess ? 1 : 0 })),
  );
  for (const some of chunks(waits)) await db.insertInto('job_waits').values(some).execute();
}

/** Runs in the transaction in which a job ends: jobs that wait for it become ready, or can never start. */
export async function endWaits(
  db: Db,
  engine: Engine,
  { number: awaited, status }: { number: number; status: string },
): Promise<void> {
  const waits = await db.selectFrom('job_waits').selectAll().where('awaited', '=', awaited).orderBy('number').execute();
  for (const { number, needs_success: needsSuccess } of waits) {
    // Locks the entry: of two jobs that end together, the second sees the end of the first.
    const entry = await db
      .selectFrom('queue_entries')
      .select('awaits_approval')
      .where('number', '=', number)
      .$if(engine === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst();
    await db.deleteFrom('job_waits').where('number', '=', number).where('awaited', '=', awaited).execute();
    if (needsSuccess === 1 && status !== 'done') {
      const refusal = JSON.stringify(dependencyFailed(awaited, status));
      await db.deleteFrom('job_waits').where('number', '=', number).execute();
      await db.updateTable('queue_entries').set({ is_ready: 1, refusal }).where('number', '=', number).execute();
      continue;
    }
    // The wait for an approval is shown first, whatever else it waits for.
    if (entry?.awaits_approval === 1) continue;
    const left = await waitsOf(db, number);
    if (left.length === 0) {
      await db.updateTable('queue_entries').set({ is_ready: 1 }).where('number', '=', number).execute();
    }
    await db
      .updateTable('records')
      .set({ refusal: JSON.stringify(waitReason(left)) })
      .where('kind', '=', 'job')
      .where('number', '=', number)
      .where('state', '=', 'waiting')
      .execute();
  }
}

/** The jobs that it still waits for. */
export async function waitsOf(db: Db, number: number): Promise<QueueEntry['waits']> {
  const rows = await db
    .selectFrom('job_waits')
    .select(['awaited as number', 'needs_success'])
    .where('number', '=', number)
    .orderBy('awaited')
    .execute();
  return rows.map((wait) => ({ number: wait.number, needsSuccess: wait.needs_success === 1 }));
}

export const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / atOnce) }, (_, at) => all.slice(at * atOnce, (at + 1) * atOnce));
