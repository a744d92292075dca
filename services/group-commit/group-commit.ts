// Group commit: items that arrive for one workflow within a short window become one update, and its answers are distributed. At most one flush is in
// flight, so agents cannot overload a workflow, and all queues and waits are bounded. A lost flush does no harm: callers repeat their items under
// their own operation ids.
import { RopewalkError, type Problem } from '../../domain/errors.ts';
import { updateDeadlineMs } from '../../domain/workflow-limits.ts';
import { maxFlushBytes, maxFlushItems, maxFlushQueue, maxFlushWindowMs, minFlushWindowMs } from './limits.ts';
import type { FlushSeen } from '../../platform/metrics/api-metrics.ts';
import type { ItemAnswer } from '../../contracts/flush.ts';

/** The outcome of one flush. A rejection means that the outcome is unknown. */
export type FlushOutcome<O> = { kind: 'answers'; items: ItemAnswer<O>[] } | { kind: 'closed' };

/** The outcome of one item. `refused`: the workflow refused it, and changed nothing. */
export type Submitted<O> = { kind: 'answer'; value: O } | { kind: 'refused'; problem: Problem } | { kind: 'closed' };

export interface GroupCommit<I, O> {
  /** Rejects when the outcome is unknown, or with TOO_BUSY before the item was sent. */
  submit(item: I, options?: SubmitOptions): Promise<Submitted<O>>;
  /** True when nothing waits and nothing is in flight. */
  isIdle(): boolean;
}

export interface SubmitOptions {
  /** Duration of the tasks behind this item. */
  taskMs?: number;
  /** How long this item may wait for others without a cost, if longer than the window; another flush may include it earlier. */
  patienceMs?: number;
}

export interface GroupCommitOptions<I, O> {
  flush: (items: I[]) => Promise<FlushOutcome<O>>;
  /** Bytes that an item's answer may need, if more than the item itself. */
  answerBytes?: (item: I) => number;
  /** Called after each flush, and for each item that was refused before one. */
  watch?: FlushWatch;
}

export interface FlushWatch {
  flushed: (flush: FlushSeen) => void;
  turnedAway: () => void;
}

export function createGroupCommit<I, O>(options: GroupCommitOptions<I, O>): GroupCommit<I, O> {
  let waiting: Waiting<I, O>[] = [];
  let waitingBytes = 0;
  let inFlight = false;
  let timer: { handle: NodeJS.Timeout; dueAtMs: number } | null = null;
  let earliestDueMs = Number.POSITIVE_INFINITY;
  let meanTaskMs: number | null = null;

  const windowMs = (): number =>
    Math.min(maxFlushWindowMs, Math.max(minFlushWindowMs, (meanTaskMs ?? 0) * windowShareOfTask));
  const isFull = (): boolean => waiting.length >= maxFlushItems || waitingBytes >= maxFlushBytes;

  const arm = (): void => {
    if (inFlight || waiting.length === 0) return;
    const dueAtMs = isFull() ? 0 : earliestDueMs;
    if (timer !== null && timer.dueAtMs <= dueAtMs) return;
    if (timer !== null) clearTimeout(timer.handle);
    if (isFull()) {
      void flush();
    } else {
      const leftMs = Math.min(maxFlushWindowMs, Math.max(0, dueAtMs - performance.now()));
      timer = { handle: setTimeout(() => void flush(), leftMs), dueAtMs };
    }
  };

  const flush = async (): Promise<void> => {
    timer = null;
    inFlight = true;
    const group = takeGroup();
    const sentAtMs = performance.now();
    let outcome: FlushSeen['outcome'] = 'failed';
    try {
      if (group.length > 0) {
        const flushed = await options.flush(group.map(({ item }) => item));
        spread(group, flushed);
        outcome = flushed.kind === 'closed' ? 'closed' : 'answered';
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      if (group.length > 0) options.watch?.flushed(seenOf(group, { sentAtMs, windowMs: windowMs(), outcome }));
      inFlight = false;
      arm();
    }
  };

  /** Takes the oldest items that fit together. Items that have waited too long are refused instead of waiting further. */
  const takeGroup = (): Waiting<I, O>[] => {
    const group: Waiting<I, O>[] = [];
    let bytes = 0;
    let taken = 0;
    for (const next of waiting) {
      const expired = performance.now() - next.sinceMs >= updateDeadlineMs;
      if (!expired && (group.length >= maxFlushItems || bytes + next.bytes > maxFlushBytes)) break;
      taken += 1;
      waitingBytes -= next.bytes;
      if (expired) {
        options.watch?.turnedAway();
        next.reject(tooBusy());
      } else {
        group.push(next);
        bytes += next.bytes;
      }
    }
    waiting = waiting.slice(taken);
    earliestDueMs = waiting.reduce((earliest, { dueAtMs }) => Math.min(earliest, dueAtMs), Number.POSITIVE_INFINITY);
    return group;
  };

  return {
    submit: (item, { taskMs, patienceMs = 0 } = {}) =>
      new Promise((resolve, reject) => {
        const bytes = Math.max(Buffer.byteLength(JSON.stringify(item)), options.answerBytes?.(item) ?? 0);
        if (bytes > maxFlushBytes) return reject(tooLarge(bytes));
        if (waiting.length >= maxFlushQueue) {
          options.watch?.turnedAway();
          return reject(tooBusy());
        }
        if (taskMs !== undefined) meanTaskMs = average(meanTaskMs, taskMs);
        const sinceMs = performance.now();
        const dueAtMs = sinceMs + Math.min(maxFlushWindowMs, Math.max(windowMs(), patienceMs));
        waiting.push({ item, bytes, sinceMs, dueAtMs, resolve, reject });
        earliestDueMs = Math.min(earliestDueMs, dueAtMs);
        waitingBytes += bytes;
        arm();
      }),
    isIdle: () => waiting.length === 0 && !inFlight,
  };
}

interface Waiting<I, O> {
  item: I;
  bytes: number;
  sinceMs: number;
  dueAtMs: number;
  resolve: (outcome: Submitted<O>) => void;
  reject: (error: unknown) => void;
}

const windowShareOfTask = 0.01;
const weightOfNewest = 0.1;
const busyRetryMs = 1_000;

const average = (mean: number | null, taskMs: number): number =>
  mean === null ? taskMs : mean + (taskMs - mean) * weightOfNewest;

function seenOf<I, O>(
  group: Waiting<I, O>[],
  { sentAtMs, ...rest }: Pick<FlushSeen, 'windowMs' | 'outcome'> & { sentAtMs: number },
): FlushSeen {
  return {
    ...rest,
    items: group.length,
    bytes: group.reduce((sum, { bytes }) => sum + bytes, 0),
    waitedMs: group.map(({ sinceMs }) => sentAtMs - sinceMs),
    tookMs: performance.now() - sentAtMs,
  };
}

function spread<I, O>(group: Waiting<I, O>[], outcome: FlushOutcome<O>): void {
  if (outcome.kind === 'answers' && outcome.items.length !== group.length) {
    throw new RopewalkError({
      code: 'INTERNAL',
      message: `A flush of ${group.length} items got ${outcome.items.length} answers.`,
    });
  }
  for (const [index, { resolve }] of group.entries()) {
    const answer = outcome.kind === 'answers' ? outcome.items[index] : undefined;
    if (answer === undefined) resolve({ kind: 'closed' });
    else if ('error' in answer) resolve({ kind: 'refused', problem: answer.error });
    else resolve({ kind: 'answer', value: answer.ok });
  }
}

const tooBusy = () =>
  new RopewalkError(
    {
      code: 'TOO_BUSY',
      message: 'More requests wait for this workflow than it can take now. Nothing was changed.',
      hint: 'Try again after the time given in Retry-After.',
    },
    { retryAfterMs: busyRetryMs },
  );

const tooLarge = (bytes: number) =>
  new RopewalkError({
    code: 'TOO_LARGE',
    message: `This request weighs ${bytes} bytes; at most ${maxFlushBytes} fit into one update.`,
    hint: 'Send less at once.',
  });
