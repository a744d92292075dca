// Texts of numbers and times.

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const time = (at: string | null): string => (at === null ? '' : clock.format(new Date(at)));

export function span(from: string | null, to: string | null): string {
  if (from === null) return '';
  const seconds = Math.max(0, ((to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1_000);
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

export const dollars = (amount: number): string => (amount > 0 && amount < 0.01 ? '<$0.01' : `$${amount.toFixed(2)}`);

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10));
  return `${(count / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

export const cost = (of: { dollars: number } | null | undefined): string =>
  of === null || of === undefined ? '' : dollars(of.dollars);
