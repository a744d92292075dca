// A job's output as lines. A followed log outlives a lost connection: it is asked for again, from a little before the
// last line, and what was already given is left out.
import type { LogLine } from '../schema/jobs.ts';
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { readNdjson } from './ndjson.ts';
import type { SendRequest } from './request.ts';
import { sleep } from './sleep.ts';

export interface LogOptions {
  signal?: AbortSignal;
  /** Task ids, as numbers or in array syntax (`2,4-6`); all when absent. */
  tasks?: readonly number[] | string;
  /** Go on as lines appear, until the job is over, through outages of the API. */
  follow?: boolean;
  /** Only lines from this time on. */
  since?: Date | string;
  /** Called when a followed log broke off and will be asked for again. */
  onUnreachable?: (error: RopewalkApiError) => void;
}

export async function* readLogs(
  request: SendRequest,
  path: string,
  { tasks, follow, since, signal, onUnreachable }: LogOptions,
): AsyncGenerator<LogLine, void, undefined> {
  const seen = createSeen();
  const ids = typeof tasks === 'string' ? tasks : tasks?.join(',');
  const start = since === undefined ? undefined : new Date(since).toISOString();
  for (let connected = false; ;) {
    try {
      const query = { tasks: ids, follow, since: later(seen.resumeAt(), start) };
      const response = await request({ method: 'GET', path, query, signal });
      connected = true;
      seen.restart();
      for await (const line of readNdjson<LogLine>(response, signal)) if (seen.isNew(line)) yield line;
      return;
    } catch (error) {
      if (follow !== true || !connected || !isOutage(error)) throw error;
      onUnreachable?.(error);
      await sleep(pauseMs, signal);
    }
  }
}

/** Of two ISO times in UTC, of which either may be missing. */
function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

const pauseMs = 500;
/** Lines of different instances may come this much out of order. */
const overlapMs = 60_000;

interface Position {
  at: string;
  /** Lines given with exactly this time, and how many of them the connection at hand has repeated. */
  count: number;
  repeated: number;
}

/** What was given already. Lines of one attempt of a task always come in the same order: a place in it is enough. */
function createSeen(): {
  isNew(line: LogLine): boolean;
  restart(): void;
  resumeAt(): string | undefined;
} {
  const positions = new Map<string, Position>();
  let newest = '';
  let connections = 0;
  return {
    isNew({ at, instance, task, attempt }) {
      const key = `${instance}/${task}/${attempt}`;
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
