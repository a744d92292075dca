// Texts of numbers and times.

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const time = (at: string | null): string => (at === null ? '' : clock.format(new Date(at)));

const withoutYear = new Intl.DateTimeFormat(undefined, {
  ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
});

/** For the columns of wide tables: omits the current year. */
export function shortTime(at: string | null, now = new Date()): string {
  if (at === null) return '';
  const date = new Date(at);
  return (date.getFullYear() === now.getFullYear() ? withoutYear : clock).format(date);
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

/** For a line of output: the reader's time to a millisecond, after the date unless it is today's. */
export function clockTime(at: string, now = new Date()): string {
  const date = new Date(at);
  const day = (of: Date): string => `${of.getFullYear()}-${digits(of.getMonth() + 1, 2)}-${digits(of.getDate(), 2)}`;
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map((each) => digits(each, 2)).join(':');
  return `${day(date) === day(now) ? '' : `${day(date)} `}${parts}.${digits(date.getMilliseconds(), 3)}`;
}

export function span(from: string | null, to: string | null): string {
  if (from === null) return '';
  return seconds(Math.max(0, ((to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1_000));
}

export function seconds(count: number): string {
  if (count < 60) return `${count.toFixed(count < 10 ? 1 : 0)} s`;
  if (count < 3_600) return `${Math.floor(count / 60)} min${rest(count % 60, 's')}`;
  return `${Math.floor(count / 3_600)} h${rest((count % 3_600) / 60, 'min')}`;
}

const rest = (count: number, unit: string): string => (count < 1 ? '' : ` ${Math.floor(count)} ${unit}`);

/** English, like the surrounding text, with a comma between thousands. */
const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

export const dollars = (amount: number): string => (amount > 0 && amount < 0.01 ? '<$0.01' : cents.format(amount));

/** The cost of one task, which is often less than a cent. */
export function taskCost(of: { dollars: number } | null): string {
  if (of === null) return '';
  return of.dollars > 0 && of.dollars < 0.0001 ? '<$0.0001' : `$${of.dollars.toFixed(4)}`;
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10));
  return `${(count / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

export const cost = (of: { dollars: number } | null | undefined): string =>
  of === null || of === undefined ? '' : dollars(of.dollars);

/** The text of a refused request. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
