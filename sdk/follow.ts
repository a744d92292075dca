// Lines of NDJSON, followed on request. When the connection of a followed answer is lost, the request is repeated, and lines that
// were already yielded are skipped.
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { readNdjson } from './ndjson.ts';
import type { SendRequest } from './request.ts';
import { sleep } from './sleep.ts';

export interface FollowOptions {
  signal?: AbortSignal;
  /** Continue with new lines until the job or cluster has ended, through outages of the API. */
  follow?: boolean;
  /** Called when the connection of a followed answer is lost, before the request is repeated. */
  onUnreachable?: (error: RopewalkApiError) => void;
}

/** The source of lines, and their identity. */
export interface Source<T> {
  path: string;
  /** For a connection that starts shortly before the newest time yielded so far. */
  query: (resumeAt: string | undefined) => Record<string, string | number | boolean | undefined>;
  /** Lines of the same key come in the same order in every connection. */
  keyOf: (line: T) => string;
}

export async function* followLines<T extends { at: string }>(
  request: SendRequest,
  { path, query, keyOf }: Source<T>,
  { follow, signal, onUnreachable }: FollowOptions,
): AsyncGenerator<T, void, undefined> {
  const seen = createSeen(keyOf);
  for (let connected = false; ;) {
    try {
      const response = await request({ method: 'GET', path, query: { follow, ...query(seen.resumeAt()) }, signal });
      connected = true;
      seen.restart();
      for await (const line of readNdjson<T>(response, signal)) if (seen.isNew(line)) yield line;
      return;
    } catch (error) {
      if (follow !== true || !connected || !isOutage(error)) throw error;
      onUnreachable?.(error);
      await sleep(pauseMs, signal);
    }
  }
}

const pauseMs = 500;
/** Lines of different keys can be out of order by this much. */
const overlapMs = 60_000;

interface Position {
  at: string;
  /** Lines yielded with exactly this time, and how many of them the current connection has repeated. */
  count: number;
  repeated: number;
}

/** The lines already yielded. Lines of one key come in a fixed order, so one position per key is enough. */
function createSeen<T extends { at: string }>(
  keyOf: (line: T) => string,
): {
  isNew(line: T): boolean;
  restart(): void;
  resumeAt(): string | undefined;
} {
  const positions = new Map<string, Position>();
  let newest = '';
  let connections = 0;
  return {
    isNew(line) {
      const { at } = line;
      const key = keyOf(line);
      const position = positions.get(key);
      if (position === undefined || at > position.at) {
        positions.set(key, { at, count: 1, repeated: 1 });
        if (at > newest) newest = at;
        return true;
      }
      // The first connection skips nothing, even when a clock that was set back puts times out of order.
      if (at < position.at) return connections === 1;
      position.repeated += 1;
      if (position.repeated <= position.count) return false;
      position.count = position.repeated;
      return true;
    },
    restart() {
      connections += 1;
      for (const position of positions.values()) position.repeated = 0;
    },
    resumeAt: () => (newest === '' ? undefined : new Date(Date.parse(newest) - overlapMs).toISOString()),
  };
}
