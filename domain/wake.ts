// Times at which the workflow acts without an event, each with a description that the Temporal UI shows on the timer.

export interface Wake {
  atMs: number;
  /** The beginning of a sentence that ends with the time, for example `idle timeout at`. */
  what: string;
}

export function earliest(wakes: readonly (Wake | null)[]): Wake | null {
  let first: Wake | null = null;
  for (const wake of wakes) if (wake !== null && (first === null || wake.atMs < first.atMs)) first = wake;
  return first;
}

/** One wake for each of these times, with the number of items due then. */
export function countedWakes(times: readonly number[], what: (count: number) => string): Wake[] {
  const counts = new Map<number, number>();
  for (const atMs of times) counts.set(atMs, (counts.get(atMs) ?? 0) + 1);
  return [...counts].map(([atMs, count]) => ({ atMs, what: what(count) }));
}

/** `idle timeout at 13:02 UTC`; with seconds when it is near, and with the day when that is not today. */
export function describeWake({ atMs, what }: Wake, nowMs: number): string {
  const [day = '', time = ''] = new Date(atMs).toISOString().split('T');
  const isToday = new Date(nowMs).toISOString().startsWith(day);
  const clock = time.slice(0, atMs - nowMs < 2 * minuteMs ? 8 : 5);
  return `${what} ${isToday ? '' : `${day} `}${clock} UTC`;
}

const minuteMs = 60_000;
