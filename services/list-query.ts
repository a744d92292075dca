// The database query of a list. The cursor is a number: the next page contains smaller numbers, so deep pages cost no more.
import { RopewalkError } from '../domain/errors.ts';
import { parseDurationMs } from '../domain/units.ts';
import type { ListQuery } from '../schema/common.ts';
import type { RecordQuery, StoredRecord } from '../store/store.ts';
import { isHidden } from './auth/privacy.ts';
import type { Context } from './context.ts';

/** @throws RopewalkError VALIDATION naming `since`, `until` or `after`. */
export function toRecordQuery({ deps, actor }: Context, query: ListQuery): RecordQuery {
  const { status, name, open, user, q, limit } = query;
  const nowMs = deps.now();
  const sinceMs = timeOf(query.since, 'since', nowMs);
  const untilMs = timeOf(query.until, 'until', nowMs);
  const before = parseCursor(query.after);
  return {
    workspace: actor.workspace,
    limit,
    ...(status === undefined ? {} : { statuses: status }),
    ...(name === undefined ? {} : { name }),
    ...(open === 'true' ? { isOpen: true } : {}),
    ...(user === undefined ? {} : { user }),
    ...(sinceMs === null ? {} : { sinceMs }),
    ...(untilMs === null ? {} : { untilMs }),
    ...(q === undefined ? {} : { search: { text: q, user: actor.user } }),
    ...(before === null ? {} : { before }),
  };
}

/**
 * A search matches a private command only for its creator. The database compares user names here, and a name may have belonged to another user
 * before, so a hidden row matches only by its own name.
 */
export const findable = <V>({ actor }: Context, items: StoredRecord<V>[], { q }: ListQuery): StoredRecord<V>[] =>
  q === undefined
    ? items
    : items.filter((record) => !isHidden(actor, record) || record.name.toLowerCase().includes(q.toLowerCase()));

export const nextCursor = ({ items, hasMore }: { items: { number: number }[]; hasMore: boolean }): string | null =>
  hasMore ? String(items.at(-1)?.number) : null;

/** @throws RopewalkError VALIDATION */
export function parseCursor(after: string | undefined): number | null {
  if (after === undefined) return null;
  if (/^\d{1,12}$/.test(after)) return Number(after);
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'after',
    message: `after: ${JSON.stringify(after)} is not a cursor.`,
    hint: 'Pass the `next` of the page before as it is.',
  });
}

/** A time, or an age. Throws VALIDATION naming `field`. */
export function timeOf(text: string | undefined, field: string, nowMs: number): number | null {
  if (text === undefined) return null;
  if (!dateSyntax.test(text)) return nowMs - parseDurationMs(text, field);
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${JSON.stringify(text)} is not a time.`,
    hint: 'Write an RFC 3339 time, as in "2026-11-22T10:00:00Z", or how long ago: "2h", "3 days".',
  });
}

const dateSyntax = /^\d{4}-/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
