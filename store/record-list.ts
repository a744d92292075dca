// Pages of jobs or clusters: all filters in one query, which an index serves at any depth.
import { sql, type ExpressionBuilder, type ExpressionWrapper, type SqlBool } from 'kysely';

import { recordOf } from './record-rows.ts';
import type { RecordQuery, StoredRecord } from './store.ts';
import type { RecordKind } from './admission-port.ts';
import type { Db, Tables } from './tables.ts';
import { searchable } from './text.ts';

type Builder = ExpressionBuilder<Tables, 'records'>;
type Condition = ExpressionWrapper<Tables, 'records', SqlBool>;

/**
 * Reads the page's numbers from an index, then its rows, because views are long. One extra number shows whether there are more.
 */
export async function listRecords<V>(
  db: Db,
  kind: RecordKind,
  query: RecordQuery,
): Promise<{ items: StoredRecord<V>[]; hasMore: boolean }> {
  if (query.statuses?.length === 0) return { items: [], hasMore: false };
  const rows = await db
    .selectFrom('records')
    .selectAll()
    .where('kind', '=', kind)
    .where('number', 'in', (from) =>
      from
        .selectFrom('records')
        .select('number')
        .where((build) => build.and(conditions(build, kind, query)))
        .orderBy('number', 'desc')
        .limit(query.limit + 1),
    )
    .orderBy('number', 'desc')
    .execute();
  return { items: rows.slice(0, query.limit).map((row) => recordOf<V>(row)), hasMore: rows.length > query.limit };
}

function conditions(build: Builder, kind: RecordKind, query: RecordQuery): Condition[] {
  const { workspace, statuses, name, isOpen, user, sinceMs, untilMs, search, before } = query;
  return [
    build('workspace', '=', workspace),
    build('kind', '=', kind),
    ...(statuses === undefined ? [] : [build('status', 'in', statuses)]),
    ...(name === undefined ? [] : [build('name', '=', name)]),
    // A literal, because a partial index serves only conditions that are known when the query is planned.
    ...(isOpen === true ? [build('state', '<>', sql.lit('ended'))] : []),
    ...(user === undefined ? [] : [build('user_name', '=', user)]),
    ...(sinceMs === undefined ? [] : [build('created_at_ms', '>=', sinceMs)]),
    ...(untilMs === undefined ? [] : [build('created_at_ms', '<=', untilMs)]),
    ...(search === undefined ? [] : [matches(build, search)]),
    ...(query.kind === undefined ? [] : [build('job', query.kind === 'job' ? 'is not' : 'is', null)]),
    ...(before === undefined ? [] : [build('number', '<', before)]),
  ];
}

function matches(build: Builder, { text, user }: { text: string; user: string }): Condition {
  const pattern = `%${searchable(text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const like = (column: 'search_name' | 'search_command') =>
    sql<SqlBool>`${sql.ref(column)} like ${pattern} escape ${sql.lit('\\')}`;
  const isReadable = build.or([build('is_private', '=', 0), build('user_name', '=', user)]);
  return build.or([like('search_name'), build.and([isReadable, like('search_command')])]);
}
