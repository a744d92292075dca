// Admissions, and the start of what was admitted.
import { decideAdmission, defaultName } from '../domain/admission/admit.ts';
import { idempotencyTtlMs } from '../domain/admission/limits.ts';
import type { Database } from './database.ts';
import { takeNumber } from './deployment.ts';
import { lockWorkspace } from './people-rows.ts';
import { insertReservation, quotaOf } from './quota-rows.ts';
import { newRecord } from './record-rows.ts';
import { claim, refused, started } from './starts.ts';
import type { AdmissionStore, Admitted, AdmitItem, Answer } from './store.ts';
import type { Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

/** Every so many numbers, an admission deletes expired keys: at most as many, and more than were added since. */
const deleteKeysEvery = 16;
const maxDeletedKeys = 100;

export function createAdmissionStore(database: Database): AdmissionStore {
  return {
    admit: (item, nowMs) =>
      database.write(async (db) => {
        const workspace = await lockWorkspace(db, database.engine, item.workspace);
        if (workspace === null) return { error: noWorkspace(item.workspace) };
        const earlier = await findKey(db, item);
        const owner = item.name === '' ? null : await findName(db, item);
        const quota = await quotaOf(db, workspace, item.user);
        const decision = decideAdmission({ earlier, owner, quota }, item, nowMs);
        if ('error' in decision) return decision;
        if ('create' in decision) return create(db, item, nowMs);
        if (!decision.isRepeat) await rememberKey(db, item, decision.found, nowMs);
        return { ok: decision.found };
      }),
    claim: (query) => claim(database, query),
    started: (kind, number) => started(database, kind, number),
    refused: (kind, number, reason, nowMs) => refused(database, { kind, number, reason }, nowMs),
  };
}

async function create(db: Db, item: AdmitItem, nowMs: number): Promise<Answer<Admitted>> {
  const number = await takeNumber(db);
  const name = item.name === '' ? defaultName(item.kind, number) : item.name;
  const { workspace, kind, admissionId, user, instances, vcpus, workerVcpus } = item;
  await db
    .insertInto('records')
    .values(newRecord({ ...item, number, name, state: 'admitted', createdAtMs: nowMs }))
    .execute();
  await insertReservation(db, workspace, { number, user, instances, vcpus, workerVcpus });
  if (item.name !== '') {
    const owner = { number, kind, admission_id: admissionId };
    await db
      .insertInto('open_names')
      .values({ workspace, name, ...owner })
      .onConflict((conflict) => conflict.columns(['workspace', 'name']).doUpdateSet(owner))
      .execute();
  }
  const admitted = { number, name, admissionId, existing: false, named: false };
  await rememberKey(db, item, admitted, nowMs);
  if (number % deleteKeysEvery === 0) await deleteExpiredKeys(db, workspace, nowMs);
  return { ok: admitted };
}

async function findKey(
  db: Db,
  { workspace, idempotencyKey }: AdmitItem,
): Promise<(Omit<Admitted, 'existing'> & { bodyHash: string; atMs: number }) | null> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['number', 'name', 'admission_id as admissionId', 'body_hash as bodyHash', 'at_ms as atMs', 'named'])
    .where('workspace', '=', workspace)
    .where('key', '=', idempotencyKey)
    .executeTakeFirst();
  return row === undefined ? null : { ...row, named: row.named === 1 };
}

async function findName(
  db: Db,
  { workspace, name }: AdmitItem,
): Promise<(Pick<Admitted, 'number' | 'admissionId'> & { kind: AdmitItem['kind'] }) | null> {
  const row = await db
    .selectFrom('open_names')
    .select(['number', 'kind', 'admission_id as admissionId'])
    .where('workspace', '=', workspace)
    .where('name', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

async function rememberKey(
  db: Db,
  { workspace, idempotencyKey, bodyHash }: AdmitItem,
  made: Admitted,
  nowMs: number,
): Promise<void> {
  const { number, name, admissionId, named } = made;
  const row = { number, name, admission_id: admissionId, body_hash: bodyHash, at_ms: nowMs, named: named ? 1 : 0 };
  await db
    .insertInto('idempotency_keys')
    .values({ workspace, key: idempotencyKey, ...row })
    .onConflict((conflict) => conflict.columns(['workspace', 'key']).doUpdateSet(row))
    .execute();
}

/** The lock of the workspace keeps two admissions from deleting the same keys. */
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
