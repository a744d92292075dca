// Sends this instance's log lines to its cloud, one call at a time, and resumes after throttling and outages. The printing
// process never waits for it; at the end it has a few seconds to send the rest.
import { createNotifier } from '../async/notifier.ts';
import { createLogQueue } from './log-queue.ts';
import type { Origin } from './log-queue.ts';
import type { LogsApi, PutOutcome } from './logs-api.ts';

export interface LogShipper {
  add(origin: Origin, stream: string, lines: readonly string[]): void;
  /** Sends the remaining lines, for at most this long. */
  close(deadlineMs: number): Promise<void>;
}

export interface LogShipperInput {
  api: LogsApi;
  /** Called once at its start and once at its end. */
  onTrouble: (text: string) => void;
  queueBytes?: number;
  /** How long a line may wait for others. */
  lingerMs?: number;
  firstRetryMs?: number;
}

const defaultLingerMs = 1_000;
const defaultFirstRetryMs = 200;
const maxRetryMs = 10_000;
const idleMs = 60_000;

export function createLogShipper(input: LogShipperInput): LogShipper {
  const { api, onTrouble, lingerMs = defaultLingerMs, firstRetryMs = defaultFirstRetryMs } = input;
  const queue = createLogQueue(input.queueBytes);
  const closing = new AbortController();
  const notifier = createNotifier(closing.signal);
  let isAbandoned = false;
  let failures = 0;
  let hasStream = false;
  /** A message about a refusal is shipped too, and would itself be refused and reported without end. */
  let isRefused = false;

  const note = (outcome: PutOutcome): void => {
    if (outcome.kind === 'again') {
      if (failures === 0) onTrouble(`Logs cannot be sent just now, trying on: ${outcome.text}`);
      failures += 1;
    } else {
      if (failures > 0) onTrouble('Logs are sent again.');
      failures = 0;
    }
  };
  const send = async (): Promise<void> => {
    if (!hasStream) {
      const created = await api.create();
      note(created);
      if (created.kind === 'refused') onTrouble(`The log stream could not be made: ${created.text}`);
      hasStream = created.kind !== 'again' && created.kind !== 'missing';
      if (!hasStream) return;
    }
    const events = queue.batch();
    const outcome = await api.put(events);
    note(outcome);
    // Created again after a pause: a new stream may not be visible everywhere.
    if (outcome.kind === 'missing') hasStream = false;
    if (outcome.kind === 'missing') failures = 1;
    const { length } = events;
    if (outcome.kind === 'refused' && !isRefused) onTrouble(`${length} lines could not be sent: ${outcome.text}`);
    if (outcome.kind === 'taken' || outcome.kind === 'refused') isRefused = outcome.kind === 'refused';
    if (outcome.kind === 'taken' || outcome.kind === 'refused') queue.drop(length);
  };
  const pause = async (): Promise<void> => {
    const untilMs = performance.now() + Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10));
    // New lines do not cut the pause short; the end does.
    while (!isAbandoned && performance.now() < untilMs)
      await notifier.wait(Math.min(firstRetryMs, untilMs - performance.now()));
  };
  const run = async (): Promise<void> => {
    while (!isAbandoned) {
      if (queue.isEmpty()) {
        if (closing.signal.aborted) return;
        await notifier.wait(idleMs);
        continue;
      }
      const lingersUntilMs = performance.now() + lingerMs;
      while (!closing.signal.aborted && !queue.isFull() && performance.now() < lingersUntilMs) {
        await notifier.wait(lingersUntilMs - performance.now());
      }
      await send();
      if (failures > 0) await pause();
    }
  };
  const running = run();
  return {
    add: (origin, stream, lines) => {
      const nowMs = Date.now();
      const wasEmpty = queue.isEmpty();
      for (const line of lines) queue.add(origin, stream, line, nowMs);
      // A batch needs only one wake-up.
      if (wasEmpty || queue.isFull()) notifier.ring();
    },
    close: async (deadlineMs) => {
      closing.abort();
      notifier.ring();
      const timer = setTimeout(() => (isAbandoned = true), deadlineMs);
      await Promise.race([running, new Promise((resolve) => setTimeout(resolve, deadlineMs + graceMs))]);
      clearTimeout(timer);
    },
  };
}

/** For the call that is in flight at the deadline. */
const graceMs = 500;
