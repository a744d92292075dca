// Lines queued for CloudWatch Logs: bounded, in order, and cut into batches that PutLogEvents accepts. Lines that do not fit
// are dropped and counted, and a line in their place states the number: no task ever waits here.
//
// Each event is a JSON line: {"n": number, "s": stream, "x": text, "k": task, "a": attempt}. Numbers count up from 1 over the
// instance's lifetime, by which a reader recognizes a line that was resent after a lost answer.

export interface LogEvent {
  timestamp: number;
  message: string;
}

/** The task that printed it; absent for the agent and Dask. */
export interface Origin {
  task?: number;
  attempt?: number;
}

export interface LogQueue {
  add(origin: Origin, stream: string, line: string, atMs: number): void;
  /** The oldest events, as many as one call accepts, in time order; the same until `drop`. */
  batch(): LogEvent[];
  /** Removes the oldest `count`. */
  drop(count: number): void;
  isEmpty(): boolean;
  /** Whether there is a whole batch. */
  isFull(): boolean;
}

/** CloudWatch's limits, and its overhead per event. */
export const batchBounds = { bytes: 1_048_576, events: 10_000, spanMs: 24 * 3_600_000, perEvent: 26 };
export const maxEventBytes = 262_144 - batchBounds.perEvent;
/** For CloudWatch's overhead, and for the event's number. */
const reservedBytes = 64;
/** Memory for queued lines. */
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
      // Reported at once, because the dropped lines may have been the last ones.
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

/** Sorted, because the clock may have been set back; lines of the same instant keep their order. */
const inOrder = (entries: readonly Entry[]): LogEvent[] =>
  entries
    .map(({ timestamp, message }) => ({ timestamp, message }))
    .toSorted((one, other) => one.timestamp - other.timestamp);

/** Splits a line that is too long for one event. */
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
  // Never splits a surrogate pair.
  const at = /[\udc00-\udfff]/.test(line.charAt(middle)) ? middle + 1 : middle;
  return [...bodies(origin, stream, line.slice(0, at)), ...bodies(origin, stream, line.slice(at))];
}
