// Environments that instances share. A waiting instance only reads, because it polls often.
import {
  decideBuild,
  giveUpBuild,
  renewBuild,
  storeArchive,
  type SharedBuild,
} from '../domain/environment/shared-build.ts';
import { maxSharedBuilds } from '../domain/environment/limits.ts';
import type { Database } from './database.ts';
import { lockWorkspace } from './people-rows.ts';
import type { BuildId, BuildKey, SharedBuildStore, StoredBuild } from './shared-build-port.ts';
import type { Db, SharedBuildTable } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

export function createSharedBuildStore(database: Database): SharedBuildStore {
  const { engine } = database;
  const rowOf = (db: Db, { workspace, id }: BuildId) =>
    db.selectFrom('shared_builds').selectAll().where('workspace', '=', workspace).where('id', '=', id);
  const read = (db: Db, key: BuildId) => rowOf(db, key).executeTakeFirst();
  const lock = (db: Db, key: BuildId) =>
    rowOf(db, key)
      .$if(engine === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst();
  const change = (key: BuildId, rule: (known: SharedBuild) => SharedBuild | null) =>
    database.write(async (db) => {
      const row = await lock(db, key);
      if (row === undefined) return { build: null, isChanged: false };
      const known = buildOf(row);
      const next = rule(known);
      if (next !== null) await update(db, key, next);
      return { build: next ?? known, isChanged: next !== null };
    });
  return {
    claim: async (key, ask, nowMs) => {
      const decide = (row: SharedBuildTable | undefined) =>
        decideBuild(row === undefined ? null : buildOf(row), { ...ask, nowMs });
      const now = decide(await database.read((db) => read(db, key)));
      if (now.next === null) return { ok: { answer: now.answer, dropped: null } };
      return database.write(async (db) => {
        // Also covers a row that does not exist yet: one of several concurrent callers inserts it.
        if ((await lockWorkspace(db, engine, key.workspace)) === null) return { error: noWorkspace(key.workspace) };
        const row = await lock(db, key);
        const { next, answer } = decide(row);
        if (next === null) return { ok: { answer, dropped: null } };
        if (row === undefined) {
          if ((await count(db, key.workspace)) >= maxSharedBuilds) return { error: tooMany };
          await db.insertInto('shared_builds').values(newRow(key, next)).execute();
          return { ok: { answer, dropped: null } };
        }
        await update(db, key, next);
        const before = buildOf(row);
        const dropped = before.state === 'stored' && next.state !== 'stored' ? before.archive.sha256 : null;
        return { ok: { answer, dropped } };
      });
    },
    renew: async (key, item, nowMs) => (await change(key, (known) => renewBuild(known, { ...item, nowMs }))).isChanged,
    giveUp: async (key, { claim, why }, nowMs) => {
      await change(key, (known) => giveUpBuild(known, { claim, why, nowMs }));
    },
    store: async (key, item) => {
      const { build } = await change(key, (known) => storeArchive(known, item));
      return build?.state === 'stored' ? build.archive : null;
    },
    find: async (key) => {
      const row = await database.read((db) => read(db, key));
      return row === undefined ? null : storedOf(row);
    },
    listOf: async (workspace, content, limit) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('shared_builds')
          .selectAll()
          .where('workspace', '=', workspace)
          .where('content', '=', content)
          .orderBy('used_at_ms', 'desc')
          .orderBy('id')
          .limit(limit)
          .execute(),
      );
      return rows.map(storedOf);
    },
    removeUnused: ({ beforeMs, limit }) =>
      database.write(async (db) => {
        const unused = await db
          .selectFrom('shared_builds')
          .select(['workspace', 'id'])
          .where('used_at_ms', '<=', beforeMs)
          .orderBy('used_at_ms')
          .limit(limit)
          .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked())
          .execute();
        for (const { workspace, id } of unused) {
          await db.deleteFrom('shared_builds').where('workspace', '=', workspace).where('id', '=', id).execute();
        }
        return unused;
      }),
  };
}

async function update(db: Db, { workspace, id }: BuildId, build: SharedBuild): Promise<void> {
  await db
    .updateTable('shared_builds')
    .set({ used_at_ms: build.usedAtMs, build: JSON.stringify(build) })
    .where('workspace', '=', workspace)
    .where('id', '=', id)
    .execute();
}

async function count(db: Db, workspace: string): Promise<number> {
  const row = await db
    .selectFrom('shared_builds')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace', '=', workspace)
    .executeTakeFirst();
  return row?.count ?? 0;
}

const newRow = (key: BuildKey, build: SharedBuild): SharedBuildTable => ({
  ...{ workspace: key.workspace, id: key.id, content: key.content, setup: key.setup },
  ...{ hash: key.hash, platform: key.platform },
  ...{ used_at_ms: build.usedAtMs, build: JSON.stringify(build) },
});

const buildOf = (row: SharedBuildTable): SharedBuild => JSON.parse(row.build) as SharedBuild;

const storedOf = (row: SharedBuildTable): StoredBuild => ({
  ...{ workspace: row.workspace, id: row.id, content: row.content, setup: row.setup },
  ...{ hash: row.hash, platform: row.platform, build: buildOf(row) },
});

const tooMany = {
  code: 'LIMIT_EXCEEDED',
  message: `A workspace has at most ${maxSharedBuilds} environments in the object store.`,
  hint: 'Unused ones are deleted by themselves; each instance builds its environment until then.',
} as const;
