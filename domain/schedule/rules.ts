// When a schedule's jobs run, and the policy for an earlier job that is still open.
import { RopewalkError } from '../errors.ts';

/**
 * `skip`: this run submits no job. `allow`: both run. `queue`: the new job waits until the earlier one has ended. `cancel`: the earlier one is
 * cancelled, and the new job waits for its end.
 */
export const overlaps = ['skip', 'allow', 'queue', 'cancel'] as const;
export type Overlap = (typeof overlaps)[number];

/** Maximum number of schedules in a workspace. */
export const maxSchedules = 200;
/** Number of a schedule's runs that are kept. */
export const maxRunsKept = 100;
/** Runs of a schedule that wait to be submitted, beyond which it takes no trigger. */
export const maxDueRuns = 10;
/** Runs that an API process submits at a time, and of them those of one workspace: others do not wait behind many triggers. */
export const runsAtOnce = 20;
export const runsOfWorkspaceAtOnce = 5;
/** A run that was missed because Temporal or its workers were unavailable is made up for this long, and skipped afterwards. */
export const catchUpMs = 3_600_000;

const macros = new Set(['@hourly', '@daily', '@weekly', '@monthly', '@yearly']);
const fields: { name: string; min: number; max: number; names?: string[] }[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  { name: 'day of the week', min: 0, max: 7, names: 'sun mon tue wed thu fri sat'.split(' ') },
];

/** Accepts five fields, or a macro such as `@daily`. Throws VALIDATION, field `cron`, naming the invalid field. */
export function checkCron(cron: string): string {
  const text = cron.trim().toLowerCase();
  if (macros.has(text)) return text;
  const parts = text.split(/\s+/);
  if (parts.length !== fields.length) {
    throw invalid(
      'cron',
      `${JSON.stringify(cron)} does not have five fields`,
      'Write for example "0 3 * * *": every day at 3:00.',
    );
  }
  for (const [index, field] of fields.entries()) {
    const part = parts[index] ?? '';
    if (part.split(',').every((each) => isPart(each, field))) continue;
    const range = `${field.min} to ${field.max}${field.names === undefined ? '' : ` or ${field.names[0]}, ...`}`;
    throw invalid('cron', `${JSON.stringify(part)} is no ${field.name}`, `Use ${range}, lists, ranges, steps, or *.`);
  }
  return parts.join(' ');
}

function isPart(part: string, { min, max, names = [] }: (typeof fields)[number]): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
  if (step !== undefined && (Number(step) < 1 || Number(step) > max)) return false;
  if (range === '*') return true;
  const ends = range.split('-').map((end) => {
    const named = names.indexOf(end);
    if (named >= 0) return named + (min === 1 ? 1 : 0);
    return /^\d{1,2}$/.test(end) ? Number(end) : Number.NaN;
  });
  const [first = Number.NaN, last = first] = ends;
  return ends.length <= 2 && first >= min && last <= max && first <= last;
}

/** Accepts a name of the IANA time zone database. Throws VALIDATION, field `timezone`. */
export function checkTimezone(timezone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    throw invalid(
      'timezone',
      `${JSON.stringify(timezone)} is no time zone`,
      'Write for example Europe/Berlin, or UTC.',
    );
  }
}

const invalid = (field: string, what: string, hint: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${what}.`, hint });

export type RunDecision =
  | { kind: 'submit'; after: number | null; cancel: number | null }
  | { kind: 'skip'; text: string };

/** `open`: the unended job of an earlier run; null when there is none. */
export function decideRun(overlap: Overlap, open: number | null): RunDecision {
  if (open === null || overlap === 'allow') return { kind: 'submit', after: null, cancel: null };
  if (overlap === 'skip') return { kind: 'skip', text: `Job ${open} of an earlier run has not ended.` };
  return { kind: 'submit', after: open, cancel: overlap === 'cancel' ? open : null };
}
