// The history of clusters: changes come with their views, and stay after the clusters have ended.
import type { Moment } from '../domain/cluster/history.ts';
import type { Database } from './database.ts';
import type { HistoryStore } from './history-port.ts';
import type { Db } from './tables.ts';

export const createHistoryStore = (database: Database): HistoryStore => ({
  async page({ cluster, untilMs, after }) {
    const rows = await database.read((db) =>
      db
        .selectFrom('cluster_history')
        .select('body')
        .where('cluster', '=', cluster)
        .where('seq', '>', after)
        .where('at_ms', '<=', untilMs)
        .orderBy('seq')
        .limit(pageSize)
        .execute(),
    );
    return rows.map(({ body }) => JSON.parse(body) as Moment);
  },
});

/** Rows of one result, and of one statement. */
const pageSize = 5_000;
const rowsAtOnce = 1_000;

/** Changes are immutable: a repeated write adds the missing ones. */
export async function writeHistory(
  db: Db,
  { number, history = [] }: { number: number; history?: readonly Moment[] },
): Promise<void> {
  for (let from = 0; from < history.length; from += rowsAtOnce) {
    const rows = history.slice(from, from + rowsAtOnce);
    await db
      .insertInto('cluster_history')
      .values(rows.map((each) => ({ cluster: number, seq: each.seq, at_ms: each.atMs, body: JSON.stringify(each) })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
