// Jobs and clusters: their workflows' writes, and reads.
import { sql } from 'kysely';

import { closeCosts, writeCosts } from './costs.ts';
import type { Database } from './database.ts';
import { writeHistory } from './history.ts';
import { adopt } from './adopt.ts';
import { notifyOfIdle, notifyOfIdleGpus, notifyOfView } from './notification-rows.ts';
import { endWaits } from './queue-rows.ts';
import { releaseNumber } from './quota-rows.ts';
import { listRecords } from './record-list.ts';
import { newRecord, recordOf, startableColumns, startableOf, type AnyView } from './record-rows.ts';
import type { RecordStore } from './store.ts';
import type { RecordKind } from './admission-port.ts';
import type { Db } from './tables.ts';

export function createRecordStore<V extends AnyView>(database: Database, kind: RecordKind): RecordStore<V> {
  return {
    find: async (workspace, number) => {
      const row = await database.read((db) =>
        db
          .selectFrom('records')
          .selectAll()
          .where('kind', '=', kind)
          .where('number', '=', number)
          .where('workspace', '=', workspace)
          .executeTakeFirst(),
      );
      return row === undefined ? null : recordOf<V>(row);
    },
    list: (query) => database.read((db) => listRecords<V>(db, kind, query)),
    project: (input) =>
      database.write(async (db) => {
        await writeCosts(db, input.view);
        await writeHistory(db, input.view);
        const isNewlyReady = await becomesReady(db, kind, input.view);
        const isWritten = await writeView(db, kind, { ...input, isFinal: false });
        if (isWritten && isNewlyReady) await notifyOfView(db, kind, input.view, input.nowMs);
        if (isWritten) await notifyOfIdleGpus(db, input.view, input.nowMs);
        if (isWritten) await notifyOfIdle(db, input.view, input.nowMs);
        if (isWritten || !(await ensureClusterOfJob(db, kind, input.view))) return;
        await writeView(db, kind, { ...input, isFinal: false });
      }),
    end: ({ release, ...input }) =>
      database.write(async (db) => {
        await writeCosts(db, input.view);
        await writeHistory(db, input.view);
        if (kind === 'cluster') await closeCosts(db, input.view.number, input.view.endedAtMs ?? input.nowMs);
        const isWritten = await writeView(db, kind, { ...input, isFinal: true });
        if (!isWritten && (await ensureClusterOfJob(db, kind, input.view))) {
          await writeView(db, kind, { ...input, isFinal: true });
        }
        if (isWritten) await notifyOfView(db, kind, input.view, input.nowMs);
        if (release) await releaseNumber(db, input.view.number);
        if (kind === 'job') await endWaits(db, database.engine, input.view);
      }),
    versions: async (numbers) => {
      const rows = await database.read(async (db) => {
        const found: { number: number; version: number; state: string }[] = [];
        for (let from = 0; from < numbers.length; from += versionsAtOnce) {
          const some = numbers.slice(from, from + versionsAtOnce);
          const query = db.selectFrom('records').select(['number', 'view_version as version', 'state']);
          found.push(...(await query.where('kind', '=', kind).where('number', 'in', some).execute()));
        }
        return found;
      });
      return rows.map(({ number, version, state }) => ({ number, version, ended: state === 'ended' }));
    },
    adopt: (input) => adopt(database, input),
    listOpen: async ({ after, limit }) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('records')
          .select([...startableColumns, 'job', 'missing_since_ms'])
          .where('kind', '=', kind)
          .where('state', '=', sql.lit('open'))
          .where('number', '>', after)
          .orderBy('number')
          .limit(limit)
          .execute(),
      );
      return rows.map((row) => ({ ...startableOf(row), job: row.job, missingSinceMs: row.missing_since_ms }));
    },
    setMissing: (number, sinceMs) =>
      database.write(async (db) => {
        await db
          .updateTable('records')
          .set({ missing_since_ms: sinceMs })
          .where('kind', '=', kind)
          .where('number', '=', number)
          .execute();
      }),
  };
}

/** Whether this is the first ready view: an idle cluster should write nothing but its view. */
async function becomesReady(db: Db, kind: RecordKind, view: AnyView): Promise<boolean> {
  if (kind !== 'cluster' || view.status !== 'ready' || (view.job ?? null) !== null) return false;
  const query = db.selectFrom('records').select('status').where('kind', '=', kind).where('number', '=', view.number);
  return (await query.executeTakeFirst())?.status !== 'ready';
}

/** Numbers in one statement. */
const versionsAtOnce = 1_000;

/** False when the row does not exist, has ended, or has this version or a newer one. A final view counts whatever its version. */
async function writeView(
  db: Db,
  kind: RecordKind,
  { view, version, nowMs, isFinal }: { view: AnyView; version: number; nowMs: number; isFinal: boolean },
): Promise<boolean> {
  const written = await db
    .updateTable('records')
    .set({
      // A workflow that writes a view has started, even if the process that started it crashed before it could record that.
      state: isFinal ? 'ended' : 'open',
      status: view.status,
      ended_at_ms: isFinal ? (view.endedAtMs ?? nowMs) : view.endedAtMs,
      claimed_until_ms: null,
      missing_since_ms: null,
      view: JSON.stringify({ ...view, costs: undefined, history: undefined }),
      view_version: version,
      view_at_ms: nowMs,
    })
    .where('kind', '=', kind)
    .where('number', '=', view.number)
    .where('state', '<>', 'ended')
    .$if(!isFinal, (query) =>
      query.where((build) => build.or([build('view_at_ms', 'is', null), build('view_version', '<', version)])),
    )
    .executeTakeFirst();
  return written.numUpdatedRows > 0n;
}

/**
 * A job's cluster gets its row with its first view; the rest comes from the job's row. True when the row exists now: another
 * process may have inserted it at the same moment, with an older view.
 */
async function ensureClusterOfJob(db: Db, kind: RecordKind, view: AnyView): Promise<boolean> {
  if (kind !== 'cluster' || view.job === undefined || view.job === null) return false;
  const job = await db
    .selectFrom('records')
    .selectAll()
    .where('kind', '=', 'job')
    .where('number', '=', view.job)
    .executeTakeFirst();
  if (job === undefined) return false;
  const row = newRecord({
    ...{ kind, number: view.number, workspace: job.workspace, job: job.number, name: view.name, user: job.user_name },
    ...{ state: 'open', admissionId: job.admission_id, specRef: job.spec_ref, privateToCreator: job.is_private === 1 },
    ...{ command: job.command, instances: job.instances, createdAtMs: view.createdAtMs ?? job.created_at_ms },
  });
  await db
    .insertInto('records')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return true;
}
