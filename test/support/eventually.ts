// Waits for a condition instead of for a time. The limit is for conditions that never hold: a slow machine must not reach it.
import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `fn` until it neither throws nor returns false, null or undefined; then returns its result. */
export async function eventually<T>(
  fn: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 25 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(fn);
    if (outcome.ok) return outcome.value;
    if (Date.now() > deadlineMs) {
      throw new Error(`the condition did not come true within ${timeoutMs} ms: ${outcome.why}`, {
        cause: outcome.cause,
      });
    }
    await sleep(intervalMs);
  }
}

type Outcome<T> = { ok: true; value: T } | { ok: false; why: string; cause?: unknown };

async function attempt<T>(fn: () => T | Promise<T>): Promise<Outcome<Exclude<T, false | null | undefined>>> {
  try {
    const value = await fn();
    return isSettled(value) ? { ok: true, value } : { ok: false, why: `it is still ${String(value)}` };
  } catch (cause) {
    return { ok: false, why: cause instanceof Error ? cause.message : String(cause), cause };
  }
}

const isSettled = <T>(value: T): value is Exclude<T, false | null | undefined> =>
  value !== false && value !== null && value !== undefined;
