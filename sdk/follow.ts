// Lines of NDJSON that may be followed. A followed answer outlives a lost connection: it is asked for again, and what was
// already given is left out.
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { readNdjson } from './ndjson.ts';
import type { SendRequest } from './request.ts';
import { sleep } from './sleep.ts';

export interface FollowOptions {
  signal?: AbortSignal;
  /** Go on as lines appear, until what writes them is over, through outages of the API. */
  follow?: boolean;
  /** Called when a followed answer broke off and will be asked for again. */
  onUnreachable?: (error: RopewalkApiError) => void;
}

/** Where lines come from, and what tells them apart. */
export interface Source<T> {
  path: string;
  /** For a connection that should begin a little before `resumeAt`, the newest time given so far. */
  query: (resumeAt: string | undefined) => Record<string, string | boolean | undefined>;
  /** Lines of equal keys always come in the same order, whatever the connection. */
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
/** Lines of different keys may come this much out of order. */
const overlapMs = 60_000;

interface Position {
  at: string;
  /** Lines given with exactly this time, and how many of them the connection at hand has repeated. */
  count: number;
  repeated: number;
}

/** What was given already. Lines of one key always come in the same order: a place in it is enough. */
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
      // Nothing is left out of the first connection, whatever a clock that was set back makes of the times.
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
