// Lines on their way to CloudWatch Logs: bounded, in order, and cut into batches that PutLogEvents takes. What does not fit
// is left out and counted, and a line says so where it was: nothing here ever makes a task wait.
//
// Each event is a JSON line: {"n": number, "s": stream, "x": text, "k": task, "a": attempt}. Numbers count up from 1 for as
// long as the instance lives, so that a reader knows a line that was sent twice because an answer was lost.

export interface LogEvent {
  timestamp: number;
  message: string;
}

/** Which task printed it; neither for the agent and Dask. */
export interface Origin {
  task?: number;
  attempt?: number;
}

export interface LogQueue {
  add(origin: Origin, stream: string, line: string, atMs: number): void;
  /** The oldest events, as many as one call takes, in time order; the same until `drop`. */
  batch(): LogEvent[];
  /** The oldest `count` are done with. */
  drop(count: number): void;
  isEmpty(): boolean;
  /** There is enough for a whole batch. */
  isFull(): boolean;
}

/** CloudWatch's own bounds, and what it adds to each event. */
export const batchBounds = { bytes: 1_048_576, events: 10_000, spanMs: 24 * 3_600_000, perEvent: 26 };
export const maxEventBytes = 262_144 - batchBounds.perEvent;
/** For what CloudWatch adds, and for the event's number. */
const reservedBytes = 64;
/** Memory for lines that have not been taken yet. */
export const defaultQueueBytes = 32 * 1024 * 1024;

interface Entry extends LogEvent {
  bytes: number;
}

export function createLogQueue(maxBytes: number = defaultQueueBytes): LogQueue {
  let entries: Entry[] = [];
  let bytes = 0;
  const left = { count: 0, lastAtMs: 0 };
  let numbered = 0;
  const push = (body: string, timestamp: number): void => {
    numbered += 1;
    const message = `{"n":${numbered},${body.slice(1)}`;
    const size = Buffer.byteLength(message) + batchBounds.perEvent;
    entries.push({ timestamp, message, bytes: size });
    bytes += size;
  };
  const reportLost = (): void => {
    if (left.count > 0) push(JSON.stringify({ s: 'agent', x: leftOut(left.count) }), left.lastAtMs);
    left.count = 0;
  };
  return {
    add: (origin, stream, line, atMs) => {
      for (const body of bodies(origin, stream, line)) {
        if (bytes + body.length + reservedBytes > maxBytes) {
          left.count += 1;
          left.lastAtMs = atMs;
        } else {
          reportLost();
          push(body, atMs);
        }
      }
    },
    batch: () => inOrder(entries.slice(0, fitting(entries))),
    drop: (count) => {
      for (const entry of entries.slice(0, count)) bytes -= entry.bytes;
      entries = entries.slice(count);
      // Not only before the next line: what was left out may have been the end.
      reportLost();
    },
    isEmpty: () => entries.length === 0,
    isFull: () => bytes >= batchBounds.bytes || entries.length >= batchBounds.events,
  };
}

const leftOut = (count: number): string => `${count} lines were left out here: more came than could be sent.`;

/** How many of the oldest fit into one call. */
function fitting(entries: readonly Entry[]): number {
  let bytes = 0;
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const bound = entries.slice(0, batchBounds.events).findIndex((entry) => {
    bytes += entry.bytes;
    earliest = Math.min(earliest, entry.timestamp);
    latest = Math.max(latest, entry.timestamp);
    return bytes > batchBounds.bytes || latest - earliest >= batchBounds.spanMs;
  });
  return bound === -1 ? Math.min(entries.length, batchBounds.events) : bound;
}

/** A clock may have been set back in between; lines of the same instant stay as they came. */
const inOrder = (entries: readonly Entry[]): LogEvent[] =>
  entries
    .map(({ timestamp, message }) => ({ timestamp, message }))
    .toSorted((one, other) => one.timestamp - other.timestamp);

/** A line that is too long for one event becomes several. */
function bodies(origin: Origin, stream: string, line: string): string[] {
  const { task, attempt } = origin;
  const body = JSON.stringify({
    s: stream,
    x: line,
    ...(task === undefined ? {} : { k: task }),
    ...(attempt === undefined ? {} : { a: attempt }),
  });
  if (Buffer.byteLength(body) + reservedBytes <= maxEventBytes) return [body];
  const middle = Math.floor(line.length / 2);
  // Never between the halves of one character.
  const at = /[\udc00-\udfff]/.test(line.charAt(middle)) ? middle + 1 : middle;
  return [...bodies(origin, stream, line.slice(0, at)), ...bodies(origin, stream, line.slice(at))];
}
