// Updates the schema of a database, under a lock, in one transaction. The schema's number is that of the last applied
// migration.
import { sql } from 'kysely';

import { RopewalkError, type Problem } from '../domain/errors.ts';
import type { Database, Engine } from './database.ts';
import { initial } from './migrations/0001-initial.ts';
import type { Db } from './tables.ts';

/** In order, numbered from 1. Never change a released one; add another. */
const migrations = [initial] as const;

/** An otherwise unused advisory lock number of this database: the letters of "rope". */
const advisoryLock = 0x726f7065;

/** `migrate: false`: refuses a database that is not up to date. CONFLICT also when the database is newer than this code. */
export async function prepareSchema(database: Database, { migrate }: { migrate: boolean }): Promise<void> {
  // Usually it is up to date, and no lock is needed.
  const version = await database.read((db) => schemaVersion(db, database.engine));
  refuseNewer(version);
  if (version === migrations.length) return;
  if (!migrate) throw new RopewalkError(older(version));
  await database.write((db) => applyMissing(db, database.engine));
}

async function applyMissing(db: Db, engine: Engine): Promise<void> {
  // SQLite: `begin immediate` is the lock.
  if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(db);
  const version = await schemaVersion(db, engine);
  refuseNewer(version);
  if (version === 0) {
    await db.schema
      .createTable('schema_version')
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute();
  }
  for (const [index, apply] of migrations.entries()) {
    if (index < version) continue;
    await apply(db, engine);
    await db
      .insertInto('schema_version')
      .values({ version: index + 1, applied_at_ms: Date.now() })
      .execute();
  }
}

/** 0 for an empty database. */
async function schemaVersion(db: Db, engine: Engine): Promise<number> {
  const exists =
    engine === 'postgres'
      ? // Not to_regclass(): it reads a cache that may be older than the lock.
        sql<{ found: unknown }>`
          select max(tablename) as found from pg_tables
          where schemaname = current_schema() and tablename = 'schema_version'`
      : sql<{ found: unknown }>`select max(name) as found from sqlite_master where name = 'schema_version'`;
  const { rows } = await exists.execute(db);
  if (rows[0]?.found === null) return 0;
  const row = await db
    .selectFrom('schema_version')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst();
  return Number(row?.version ?? 0);
}

function refuseNewer(version: number): void {
  if (version > migrations.length) throw new RopewalkError(newer(version));
}

const newer = (version: number): Problem => ({
  code: 'CONFLICT',
  message: `The database has schema version ${version}; this version of Ropewalk knows versions up to ${migrations.length}.`,
  hint: 'Run the version of Ropewalk that was installed before, or a newer one.',
});

const older = (version: number): Problem => ({
  code: 'CONFLICT',
  message:
    version === 0
      ? 'The database is empty.'
      : `The database has schema version ${version}; this version of Ropewalk needs version ${migrations.length}.`,
  hint: 'Run `ropewalk init`, which creates or updates the tables.',
});
