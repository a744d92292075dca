// Advances the queue: ready jobs and clusters are admitted within quota and budget; those that can never start are ended.
import { admitFromQueue, waitsForRoom, type ReadyJob } from '../domain/admission/queue.ts';
import { approvalExpired, type ApprovalState } from '../domain/admission/approval.ts';
import { waitsForBudget } from '../domain/budget/admit.ts';
import type { Quota } from '../domain/quota/usage.ts';
import { settleApproval } from './approval-rows.ts';
import { listBudgets } from './budgets.ts';
import type { Database, Engine } from './database.ts';
import { notifyOfRow } from './notification-rows.ts';
import { lockWorkspace, workspaceOf } from './people-rows.ts';
import { endWaits } from './queue-rows.ts';
import { quotaOf, releaseNumber } from './quota-rows.ts';
import type { AdmissionStore, EndedWait } from './admission-port.ts';
import type { Workspace } from './store.ts';
import type { QueueEntryTable } from './queue-tables.ts';
import type { Db } from './tables.ts';

export async function admitWaiting(database: Database, nowMs: number): ReturnType<AdmissionStore['admitWaiting']> {
  const outcome: Awaited<ReturnType<AdmissionStore['admitWaiting']>> = { admitted: 0, ended: [] };
  outcome.ended.push(...(await expireApprovals(database, nowMs)));
  const slugs = await database.read((db) =>
    db.selectFrom('queue_entries').select('workspace').distinct().where('is_ready', '=', 1).execute(),
  );
  for (const { workspace: slug } of slugs) {
    // Begins no write transaction while quota and budgets have no room, because nothing would change.
    const isDue = await database.read(async (db) => {
      const row = await db.selectFrom('workspaces').selectAll().where('slug', '=', slug).executeTakeFirst();
      return row !== undefined && !isEmpty(await plan(db, workspaceOf(row), nowMs));
    });
    if (!isDue) continue;
    const moved = await database.write(async (db) => {
      const workspace = await lockWorkspace(db, database.engine, slug);
      const due = workspace === null ? { holds: [], admit: [], refused: [] } : await plan(db, workspace, nowMs);
      for (const hold of due.holds) await writeHold(db, slug, hold);
      const admitted = await admit(db, due.admit);
      const ended: QueueEntryTable[] = [];
      for (const row of due.refused) {
        if (
          await endWaiting(db, database.engine, {
            number: row.number,
            refusal: row.refusal ?? '',
            nowMs,
            settle: withdrawn,
          })
        )
          ended.push(row);
      }
      return { admitted, ended };
    });
    outcome.admitted += moved.admitted;
    const ended = moved.ended.map((row) => ({
      workspace: row.workspace,
      admissionId: row.admission_id,
      isRetriable: true,
    }));
    outcome.ended.push(...ended);
  }
  return outcome;
}

export const cancelWaiting = (
  database: Database,
  { number, reason: { code, text } }: { number: number; reason: { code: string; text: string } },
  nowMs: number,
): Promise<boolean> =>
  database.write((db) =>
    endWaiting(db, database.engine, { number, refusal: JSON.stringify({ code, text }), nowMs, settle: withdrawn }),
  );

/** The new hold of a user's waiting jobs. */
interface Hold {
  user: string;
  /** JSON of the budget that holds them; null when none does. */
  hold: string | null;
}

interface Plan {
  /** Users whose jobs have another hold. */
  holds: Hold[];
  admit: QueueEntryTable[];
  refused: QueueEntryTable[];
}

const isEmpty = ({ holds, admit: admitted, refused }: Plan): boolean =>
  holds.length + admitted.length + refused.length === 0;

async function plan(db: Db, workspace: Workspace, nowMs: number): Promise<Plan> {
  const { holds, held } = await readHolds(db, workspace.slug, nowMs);
  const left = new Set(held);
  for (;;) {
    const { rows, refused, round } = await readWindow(db, workspace, [...left]);
    const found = { holds, admit: round.admitted.map(({ row }) => row), refused };
    // Reads other users' jobs, however many jobs of users without room come first.
    if (!isEmpty({ ...found, holds: [] }) || round.isFull || rows < maxLooked) return found;
    for (const user of round.held) left.add(user);
  }
}

/** The first jobs of the queue, without those of users who have no room. */
async function readWindow(db: Db, workspace: Workspace, left: readonly string[]) {
  const rows = await db
    .selectFrom('queue_entries')
    .selectAll()
    .where('workspace', '=', workspace.slug)
    .where('is_ready', '=', 1)
    .$if(left.length > 0, (query) =>
      query.where((build) => build.or([build('refusal', 'is not', null), build('user_name', 'not in', left)])),
    )
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
  const jobs = ready.map((row): ReadyJob & { row: QueueEntryTable } => {
    const { number, user_name: user, priority, instances, vcpus } = row;
    return { number, user, priority, instances, vcpus, row };
  });
  const round = admitFromQueue(jobs, { workspace: { use, limits: workspace.limits }, users });
  return { rows: rows.length, refused, round };
}

/** Users whose budget hold has changed. */
async function readHolds(db: Db, slug: string, nowMs: number): Promise<{ holds: Hold[]; held: string[] }> {
  const budgets = await listBudgets(db, slug);
  const known = await db
    .selectFrom('queue_entries')
    .select(['user_name as user', 'hold'])
    .distinct()
    .where('workspace', '=', slug)
    .where('is_ready', '=', 1)
    .where('refusal', 'is', null)
    .execute();
  const wanted = new Map<string, string | null>();
  for (const user of new Set(known.map((each) => each.user))) {
    const reason = waitsForBudget(budgets, user, nowMs);
    wanted.set(user, reason === null ? null : JSON.stringify(reason));
  }
  const changed = new Set(known.filter(({ user, hold }) => hold !== wanted.get(user)).map(({ user }) => user));
  const all = [...wanted].map(([user, hold]) => ({ user, hold }));
  return {
    holds: all.filter(({ user }) => changed.has(user)),
    held: all.filter(({ hold }) => hold !== null).map(({ user }) => user),
  };
}

async function writeHold(db: Db, slug: string, { user, hold }: Hold): Promise<void> {
  const changed = db
    .selectFrom('queue_entries')
    .where('workspace', '=', slug)
    .where('user_name', '=', user)
    .where('is_ready', '=', 1)
    .where('refusal', 'is', null);
  // Locks the queue entry before the record, as where waits end: the order prevents deadlocks.
  await db.updateTable('queue_entries').set({ hold }).where('number', 'in', changed.select('number')).execute();
  await db
    .updateTable('records')
    .set({ refusal: hold ?? JSON.stringify(waitsForRoom) })
    .where('state', '=', 'waiting')
    .where('number', 'in', changed.select('number'))
    .execute();
}

async function admit(db: Db, planned: readonly QueueEntryTable[]): Promise<number> {
  if (planned.length === 0) return 0;
  // Omits jobs that were cancelled since they were read.
  const left = await db
    .deleteFrom('queue_entries')
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
    .where('state', '=', 'waiting')
    .where('number', 'in', numbers)
    .execute();
  return rows.length;
}

/** False when it is not waiting. `settle` decides a pending approval. */
export async function endWaiting(
  db: Db,
  engine: Engine,
  {
    number,
    refusal,
    nowMs,
    settle,
  }: {
    number: number;
    refusal: string;
    nowMs: number;
    settle: { state: ApprovalState; by: string | null; comment: string | null };
  },
): Promise<boolean> {
  const left = await db.deleteFrom('queue_entries').where('number', '=', number).returning('kind').executeTakeFirst();
  if (left === undefined) return false;
  const { kind } = left;
  await db
    .updateTable('records')
    .set({ state: 'ended', status: kind === 'job' ? 'cancelled' : 'stopped', ended_at_ms: nowMs, refusal })
    .where('kind', '=', kind)
    .where('number', '=', number)
    .execute();
  await settleApproval(db, { number, ...settle, nowMs });
  await db.deleteFrom('job_waits').where('number', '=', number).execute();
  await releaseNumber(db, number);
  await notifyOfRow(db, kind, number, nowMs);
  if (kind === 'job') await endWaits(db, engine, { number, status: 'cancelled' });
  return true;
}

/** Ends requests whose approval has expired. The workspace lock orders this and a decision. */
async function expireApprovals(database: Database, nowMs: number): Promise<EndedWait[]> {
  const due = await database.read((db) => dueApprovals(db, nowMs).select(['workspace', 'number']).execute());
  const ended: EndedWait[] = [];
  for (const { workspace, number } of due) {
    const row = await database.write(async (db) => {
      await lockWorkspace(db, database.engine, workspace);
      const still = await dueApprovals(db, nowMs).select('number').where('number', '=', number).executeTakeFirst();
      if (still === undefined) return undefined;
      const entry = await db
        .selectFrom('queue_entries')
        .select('admission_id')
        .where('number', '=', number)
        .executeTakeFirst();
      const refusal = JSON.stringify(approvalExpired);
      const settle = { state: 'expired' as const, by: null, comment: null };
      return (await endWaiting(db, database.engine, { number, refusal, nowMs, settle })) ? entry : undefined;
    });
    if (row !== undefined) ended.push({ workspace, admissionId: row.admission_id, isRetriable: false });
  }
  return ended;
}

const dueApprovals = (db: Db, nowMs: number) =>
  db
    .selectFrom('approvals')
    .where('state', '=', 'pending')
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .limit(maxLooked);

const withdrawn = { state: 'withdrawn', by: null, comment: null } as const;

/** Per workspace and transaction. */
const maxLooked = 200;
