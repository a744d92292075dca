// Axes of charts: ranges and labels, computed without a canvas.

const daySeconds = 86_400;

/** From the first to the last day, with half a bar of room at both ends, which gives a single day a range. */
export const dayRange = (days: readonly number[]): [number, number] => [
  (days[0] ?? 0) - daySeconds,
  (days.at(-1) ?? 0) + daySeconds,
];

/** Amounts at these equal distances, with as many digits as their difference needs. */
export function dollarLabels(amounts: readonly number[], step: number): string[] {
  const digits = Math.min(8, Math.max(2, Math.ceil(-Math.log10(step) - 1e-9)));
  return amounts.map((each) => `$${each.toFixed(digits)}`);
}

/** Labels in the reader's language: the time, and the date where a day begins or the axis spans several days. */
export function timeLabels(seconds: readonly number[], stepSeconds: number): string[] {
  const clock = new Intl.DateTimeFormat(undefined, {
    ...{ hour: 'numeric', minute: '2-digit' },
    ...(stepSeconds < 60 ? { second: '2-digit' } : {}),
  });
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
  let last = '';
  return seconds.map((each) => {
    const at = new Date(each * 1_000);
    const today = day.format(at);
    const isNewDay = today !== last;
    last = today;
    if (stepSeconds >= daySeconds) return today;
    return isNewDay ? `${today}\n${clock.format(at)}` : clock.format(at);
  });
}
