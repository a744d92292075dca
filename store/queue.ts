// The queue moves: jobs whose wait has ended are admitted as far as the quota has room; those that can never start end.
import { admitFromQueue, type ReadyJob } from '../domain/admission/queue.ts';
import type { Quota } from '../domain/quota/usage.ts';
import type { Database, Engine } from './database.ts';
import { notifyOfRow } from './notification-rows.ts';
import { lockWorkspace, workspaceOf } from './people-rows.ts';
import { endWaits } from './queue-rows.ts';
import { quotaOf, releaseNumber } from './quota-rows.ts';
import type { AdmissionStore } from './admission-port.ts';
import type { Workspace } from './store.ts';
import type { Db, WaitingJobTable } from './tables.ts';

export async function admitWaiting(database: Database, nowMs: number): ReturnType<AdmissionStore['admitWaiting']> {
  const outcome: Awaited<ReturnType<AdmissionStore['admitWaiting']>> = { admitted: 0, ended: [] };
  const slugs = await database.read((db) =>
    db.selectFrom('waiting_jobs').select('workspace').distinct().where('is_ready', '=', 1).execute(),
  );
  for (const { workspace: slug } of slugs) {
    // While the quota has no room nothing changes: no transaction that writes is begun for it.
    const isDue = await database.read(async (db) => {
      const row = await db.selectFrom('workspaces').selectAll().where('slug', '=', slug).executeTakeFirst();
      return row !== undefined && !isEmpty(await plan(db, workspaceOf(row)));
    });
    if (!isDue) continue;
    const moved = await database.write(async (db) => {
      const workspace = await lockWorkspace(db, database.engine, slug);
      const due = workspace === null ? { admit: [], refused: [] } : await plan(db, workspace);
      const admitted = await admit(db, due.admit);
      const ended: WaitingJobTable[] = [];
      for (const row of due.refused) {
        if (await endWaiting(db, database.engine, { number: row.number, refusal: row.refusal ?? '', nowMs }))
          ended.push(row);
      }
      return { admitted, ended };
    });
    outcome.admitted += moved.admitted;
    outcome.ended.push(...moved.ended.map(({ workspace, admission_id: admissionId }) => ({ workspace, admissionId })));
  }
  return outcome;
}

export const cancelWaiting = (
  database: Database,
  { number, reason: { code, text } }: { number: number; reason: { code: string; text: string } },
  nowMs: number,
): Promise<boolean> =>
  database.write((db) => endWaiting(db, database.engine, { number, refusal: JSON.stringify({ code, text }), nowMs }));

interface Plan {
  admit: WaitingJobTable[];
  refused: WaitingJobTable[];
}

const isEmpty = ({ admit: admitted, refused }: Plan): boolean => admitted.length + refused.length === 0;

async function plan(db: Db, workspace: Workspace): Promise<Plan> {
  const rows = await db
    .selectFrom('waiting_jobs')
    .selectAll()
    .where('workspace', '=', workspace.slug)
    .where('is_ready', '=', 1)
    .orderBy('priority', 'desc')
    .orderBy('number')
    .limit(maxLooked)
    .execute();
  const refused = rows.filter(({ refusal }) => refusal !== null);
  const ready = rows.filter(({ refusal }) => refusal === null);
  const users = new Map<string, Quota['user']>();
  let use = { running: 0, instances: 0, vcpus: 0 };
  for (const user of new Set(ready.map(({ user_name: name }) => name))) {
    const quota = await quotaOf(db, workspace, user);
    users.set(user, quota.user);
    use = quota.workspace.use;
  }
  const jobs = ready.map((row): ReadyJob & { row: WaitingJobTable } => {
    const { number, user_name: user, priority, instances, vcpus } = row;
    return { number, user, priority, instances, vcpus, row };
  });
  const admitted = admitFromQueue(jobs, { workspace: { use, limits: workspace.limits }, users });
  return { admit: admitted.map(({ row }) => row), refused };
}

async function admit(db: Db, planned: readonly WaitingJobTable[]): Promise<number> {
  if (planned.length === 0) return 0;
  // One that was cancelled since it was read has left.
  const left = await db
    .deleteFrom('waiting_jobs')
    .where(
      'number',
      'in',
      planned.map(({ number }) => number),
    )
    .returning('number')
    .execute();
  const numbers = left.map(({ number }) => number);
  const rows = planned.filter(({ number }) => numbers.includes(number));
  if (rows.length === 0) return 0;
  await db
    .insertInto('reservations')
    .values(
      rows.map(({ number, workspace, user_name, instances, vcpus, worker_vcpus }) => ({
        ...{ number, workspace, user_name, instances, vcpus, worker_vcpus, share: null, has: null },
      })),
    )
    .execute();
  await db
    .updateTable('records')
    .set({ state: 'admitted', status: 'pending', refusal: null })
    .where('kind', '=', 'job')
    .where('number', 'in', numbers)
    .execute();
  return rows.length;
}

/** False when it waits no more. */
async function endWaiting(
  db: Db,
  engine: Engine,
  { number, refusal, nowMs }: { number: number; refusal: string; nowMs: number },
): Promise<boolean> {
  const left = await db.deleteFrom('waiting_jobs').where('number', '=', number).executeTakeFirst();
  if (left.numDeletedRows === 0n) return false;
  await db
    .updateTable('records')
    .set({ state: 'ended', status: 'cancelled', ended_at_ms: nowMs, refusal })
    .where('kind', '=', 'job')
    .where('number', '=', number)
    .execute();
  await db.deleteFrom('job_waits').where('number', '=', number).execute();
  await releaseNumber(db, number);
  await notifyOfRow(db, 'job', number, nowMs);
  await endWaits(db, engine, { number, status: 'cancelled' });
  return true;
}

/** Of one workspace, in one transaction. */
const maxLooked = 200;
