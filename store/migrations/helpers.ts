// Parts of migrations.
import type { Db } from '../tables.ts';

export async function index(db: Db, name: string, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).on(table).columns(columns).execute();
}
