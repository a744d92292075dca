// Formats times in the local time zone, to the second; times of log lines with six decimals, as in Coiled.

/** `2024-11-18 17:25:08`; empty for null. */
export function formatTime(iso: string | null): string {
  if (iso === null) return '';
  const time = new Date(iso);
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()].map(two).join('-');
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}

/** `2025-07-09 16:50:37.844000` */
export function formatLogTime(iso: string): string {
  const milliseconds = String(new Date(iso).getMilliseconds()).padStart(3, '0');
  return `${formatTime(iso)}.${milliseconds}000`;
}

/** `12.3 s`, `3 m 20 s`, `2 h 5 m` between two times; empty while one of them is unknown. */
export function formatSpan(from: string | null, to: string | null): string {
  if (from === null || to === null) return '';
  const seconds = Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
