// The rows that a batch of admissions reads and writes, in a few queries for any number of admissions.
import type { AdmissionBook, BatchOutcome } from '../domain/admission/batch.ts';
import { idempotencyTtlMs } from '../domain/admission/limits.ts';
import type { WorkspaceLimits } from '../domain/quota/state.ts';
import type { Engine } from './database.ts';
import { readRule, writeApprovals } from './approval-rows.ts';
import { listBudgets } from './budgets.ts';
import { usageByUser } from './quota-rows.ts';
import { readQueue, waitingRecord, writeQueued } from './queue-rows.ts';
import { newRecord } from './record-rows.ts';
import type { Workspace } from './store.ts';
import type { AdmitItem } from './admission-port.ts';
import type { Db } from './tables.ts';

/** Interval of numbers after which a batch deletes expired keys, and their maximum count, which exceeds the keys added since. */
const deleteKeysEvery = 16;
const maxDeletedKeys = 200;

/** The caller has locked the workspace. */
export async function readBook(
  db: Db,
  { workspace, engine }: { workspace: Workspace; engine: Engine },
  items: readonly AdmitItem[],
): Promise<AdmissionBook> {
  const { slug, limits, perUser } = workspace;
  const keys = await db
    .selectFrom('idempotency_keys')
    .select(['key', 'number', 'name', 'admission_id', 'body_hash', 'at_ms', 'named'])
    .where('workspace', '=', slug)
    .where('key', 'in', unique(items.map(({ idempotencyKey }) => idempotencyKey)))
    .execute();
  const users = unique(items.map(({ user }) => user));
  const own = await db
    .selectFrom('users')
    .select(['name', 'limits'])
    .where('workspace', '=', slug)
    .where('name', 'in', users)
    .execute();
  const ownLimits = new Map(own.map((row) => [row.name, JSON.parse(row.limits) as Partial<WorkspaceLimits>]));
  const usage = await usageByUser(db, slug);
  const useOf = new Map(usage.map(({ user, use }) => [user, use]));
  return {
    keys: new Map(
      keys.map((row) => {
        const { key, admission_id: admissionId, body_hash: bodyHash, at_ms: atMs, number, name } = row;
        return [key, { number, name, admissionId, bodyHash, atMs, named: row.named === 1 }];
      }),
    ),
    names: await readNames(db, slug, unique(items.map(({ name }) => name).filter((name) => name !== ''))),
    retries: await readRetries(db, slug, items),
    budgets: await listBudgets(db, slug),
    approval: await readRule(db, slug),
    workspace: { limits, use: usage.reduce((total, { use }) => sum(total, use), none) },
    queue: await readQueue(db, { slug, engine }, items),
    users: new Map(
      users.map((user) => {
        return [user, { use: useOf.get(user) ?? none, limits: { ...perUser, ...ownLimits.get(user) } }];
      }),
    ),
  };
}

async function readNames(db: Db, workspace: string, names: string[]): Promise<AdmissionBook['names']> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('open_names')
    .select(['name', 'number', 'kind', 'admission_id'])
    .where('workspace', '=', workspace)
    .where('name', 'in', names)
    .execute();
  return new Map(
    rows.map(({ name, number, kind, admission_id: admissionId }) => [name, { number, kind, admissionId }]),
  );
}

async function readRetries(db: Db, workspace: string, items: readonly AdmitItem[]): Promise<AdmissionBook['retries']> {
  const of = [...new Set(items.flatMap(({ retryOf }) => (retryOf === undefined ? [] : [retryOf])))];
  if (of.length === 0) return new Map();
  const rows = await db
    .selectFrom('records')
    .select(['number', 'retry_of'])
    .where('workspace', '=', workspace)
    .where('state', '<>', 'ended')
    .where('retry_of', 'in', of)
    .execute();
  return new Map(rows.flatMap(({ number, retry_of: retried }) => (retried === null ? [] : [[retried, number]])));
}

export async function writeOutcome(
  db: Db,
  workspace: string,
  { made, keys, names }: BatchOutcome<AdmitItem>,
): Promise<void> {
  if (made.length > 0) {
    await db
      .insertInto('records')
      .values(
        made.map(({ number, name, item, nowMs, entry }) => ({
          ...newRecord({
            ...{ ...item, number, name, state: 'admitted', createdAtMs: nowMs },
            priority: item.queue?.priority ?? 0,
          }),
          ...(entry === null ? {} : waitingRecord(entry.reason)),
        })),
      )
      .execute();
    await writeReservations(db, workspace, made);
    await writeQueued(db, workspace, made);
    await writeApprovals(db, workspace, made);
  }
  await writeNames(db, workspace, names);
  await writeKeys(db, workspace, keys);
  const newest = made.at(-1);
  if (newest === undefined || made.every(({ number }) => number % deleteKeysEvery !== 0)) return;
  await deleteExpiredKeys(db, workspace, newest.nowMs);
}

async function writeReservations(db: Db, workspace: string, made: BatchOutcome<AdmitItem>['made']): Promise<void> {
  const rows = made.flatMap(({ number, entry, item: { user, instances, vcpus, workerVcpus } }) =>
    entry !== null
      ? []
      : [
          {
            ...{ number, workspace, user_name: user, instances, vcpus, worker_vcpus: workerVcpus },
            ...{ share: null, has: null },
          },
        ],
  );
  if (rows.length > 0) await db.insertInto('reservations').values(rows).execute();
}

async function writeNames(db: Db, workspace: string, names: BatchOutcome<AdmitItem>['names']): Promise<void> {
  if (names.size === 0) return;
  await db
    .insertInto('open_names')
    .values(
      [...names].map(([name, { number, kind, admissionId }]) => ({
        ...{ workspace, name, number, kind, admission_id: admissionId },
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['workspace', 'name']).doUpdateSet((build) => ({
        number: build.ref('excluded.number'),
        kind: build.ref('excluded.kind'),
        admission_id: build.ref('excluded.admission_id'),
      })),
    )
    .execute();
}

async function writeKeys(db: Db, workspace: string, keys: BatchOutcome<AdmitItem>['keys']): Promise<void> {
  if (keys.size === 0) return;
  await db
    .insertInto('idempotency_keys')
    .values(
      [...keys].map(([key, { number, name, admissionId, bodyHash, atMs, named }]) => ({
        ...{ workspace, key, number, name, admission_id: admissionId, body_hash: bodyHash, at_ms: atMs },
        named: named ? 1 : 0,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['workspace', 'key']).doUpdateSet((build) => ({
        number: build.ref('excluded.number'),
        name: build.ref('excluded.name'),
        admission_id: build.ref('excluded.admission_id'),
        body_hash: build.ref('excluded.body_hash'),
        at_ms: build.ref('excluded.at_ms'),
        named: build.ref('excluded.named'),
      })),
    )
    .execute();
}

/** The workspace lock prevents two processes from deleting the same keys. */
async function deleteExpiredKeys(db: Db, workspace: string, nowMs: number): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('workspace', '=', workspace)
    .where('key', 'in', (from) =>
      from
        .selectFrom('idempotency_keys')
        .select('key')
        .where('workspace', '=', workspace)
        .where('at_ms', '<=', nowMs - idempotencyTtlMs)
        .orderBy('at_ms')
        .limit(maxDeletedKeys),
    )
    .execute();
}

const unique = (values: string[]): string[] => [...new Set(values)];

const none: WorkspaceLimits = { running: 0, instances: 0, vcpus: 0 };

const sum = (a: WorkspaceLimits, b: WorkspaceLimits): WorkspaceLimits => ({
  running: a.running + b.running,
  instances: a.instances + b.instances,
  vcpus: a.vcpus + b.vcpus,
});
