// The cost ledger: entries come with the views of clusters, and stay when those have ended.
import type { CostInterval, PriceChange } from '../domain/cost/interval.ts';
import type { CostEntry } from '../domain/cost/summary.ts';
import type { Database } from './database.ts';
import type { CostQuery, CostStore, OwnedCostEntry } from './cost-port.ts';
import type { CostTable, Db } from './tables.ts';

export const createCostStore = (database: Database): CostStore => ({
  async read(query, take) {
    let after: Place = { cluster: 0, instance: '' };
    for (;;) {
      const entries = await database.read((db) => page(db, query, after));
      take(entries);
      const last = entries.at(-1);
      if (last === undefined || entries.length < pageSize) return;
      after = last;
    }
  },
  async ofClusters(numbers) {
    const found = new Map<number, CostInterval[]>();
    for (let from = 0; from < numbers.length; from += numbersAtOnce) {
      const some = numbers.slice(from, from + numbersAtOnce);
      const rows = await database.read((db) =>
        db.selectFrom('costs').selectAll().where('cluster', 'in', some).execute(),
      );
      for (const [number, own] of Map.groupBy(rows, ({ cluster }) => cluster)) found.set(number, own.map(intervalOf));
    }
    return found;
  },
});

/** Limits the numbers in one statement, and the rows of one result. */
const numbersAtOnce = 1_000;
const pageSize = 5_000;

type Place = Pick<CostEntry, 'cluster' | 'instance'>;

async function page(db: Db, { workspace, sinceMs, user }: CostQuery, after: Place): Promise<OwnedCostEntry[]> {
  const rows = await db
    .selectFrom('costs')
    .leftJoin('records', (join) =>
      join.onRef('records.number', '=', 'costs.cluster').on('records.kind', '=', 'cluster'),
    )
    .selectAll('costs')
    .select(['records.user_name', 'records.name', 'records.job', 'records.is_private', 'records.admission_id'])
    .where('costs.workspace', '=', workspace)
    .where((build) => build.or([build('costs.to_ms', 'is', null), build('costs.to_ms', '>=', sinceMs)]))
    .$if(user !== undefined, (query) => query.where('records.user_name', '=', user ?? ''))
    .where((build) =>
      build.or([
        build('costs.cluster', '>', after.cluster),
        build.and([build('costs.cluster', '=', after.cluster), build('costs.instance', '>', after.instance)]),
      ]),
    )
    .orderBy('costs.cluster')
    .orderBy('costs.instance')
    .limit(pageSize)
    .execute();
  return rows.map((row) => ({
    ...intervalOf(row),
    ...{ cluster: row.cluster, job: row.job, user: row.user_name ?? '', name: row.name ?? '' },
    // Without its record an entry's privacy is unknown: it counts as private.
    ...{ privateToCreator: row.is_private !== 0, admissionId: row.admission_id ?? '' },
  }));
}

const intervalOf = (row: CostTable): CostInterval => ({
  ...{ instance: row.instance, role: row.role, type: row.type, zone: row.zone, market: row.market },
  ...{ microsPerHour: row.micros_per_hour, diskMicrosPerHour: row.disk_micros_per_hour },
  ...{ addressMicrosPerHour: row.address_micros_per_hour, source: row.price_source },
  ...{ fromMs: row.from_ms, toMs: row.to_ms },
  ...(row.later_prices === null ? {} : { later: JSON.parse(row.later_prices) as PriceChange[] }),
  ...(row.tags === null ? {} : { tags: JSON.parse(row.tags) as Record<string, string> }),
});

/** An ended entry keeps its end: two writes of a workflow may arrive in reverse order. */
export async function writeCosts(
  db: Db,
  { number, workspace, costs = [] }: { number: number; workspace: string; costs?: readonly CostInterval[] },
): Promise<void> {
  for (let from = 0; from < costs.length; from += rowsAtOnce) {
    await db
      .insertInto('costs')
      .values(costs.slice(from, from + rowsAtOnce).map((each) => rowOf(number, workspace, each)))
      .onConflict((conflict) =>
        conflict
          .columns(['cluster', 'instance'])
          .doUpdateSet((build) => ({
            ...{ from_ms: build.ref('excluded.from_ms'), to_ms: build.ref('excluded.to_ms') },
            micros_per_hour: build.ref('excluded.micros_per_hour'),
            later_prices: build.ref('excluded.later_prices'),
            price_source: build.ref('excluded.price_source'),
          }))
          .where('costs.to_ms', 'is', null),
      )
      .execute();
  }
}

/** SQLite accepts 32,766 values in a statement. */
const rowsAtOnce = 1_000;

/** Closes an ended cluster's open entries, for example after its workflow was terminated. */
export async function closeCosts(db: Db, cluster: number, nowMs: number): Promise<void> {
  await db
    .updateTable('costs')
    .set({ to_ms: nowMs })
    .where('cluster', '=', cluster)
    .where('to_ms', 'is', null)
    .execute();
}

const rowOf = (cluster: number, workspace: string, entry: CostInterval): CostTable => ({
  ...{ cluster, workspace, instance: entry.instance, role: entry.role, type: entry.type, zone: entry.zone },
  ...{ market: entry.market, micros_per_hour: entry.microsPerHour, disk_micros_per_hour: entry.diskMicrosPerHour },
  address_micros_per_hour: entry.addressMicrosPerHour,
  tags: entry.tags === undefined ? null : JSON.stringify(entry.tags),
  later_prices: entry.later === undefined ? null : JSON.stringify(entry.later),
  ...{ price_source: entry.source, from_ms: entry.fromMs, to_ms: entry.toMs },
});
