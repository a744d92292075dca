// Sums the ledger by user, tag, job, cluster, day or instance type.
import { amountIn, type Amount, type Period } from './amount.ts';
import { hourlyMicros, type CostInterval } from './interval.ts';

export const costGroupings = ['user', 'tag', 'job', 'cluster', 'day', 'type'] as const;
export type CostGrouping = (typeof costGroupings)[number];

/** A ledger entry with its owner. A job and the cluster of its instances share one number. */
export interface CostEntry extends CostInterval {
  cluster: number;
  job: number | null;
  user: string;
  name: string;
}

export interface CostLine {
  /** A user, `key=value` of a tag, a number, a day (UTC) or a type. An instance with several tags is counted in several lines. */
  key: string;
  /** The name of the job or cluster. */
  name: string | null;
  micros: number;
  instanceSeconds: number;
  /** Number of distinct instances. */
  instances: number;
  /** Hourly cost of the existing instances. */
  microsPerHour: number;
}

const dayMs = 86_400_000;

export interface Summary {
  add(entry: CostEntry): void;
  /** Days in order; all other groups by cost, most expensive first. */
  lines(): CostLine[];
  total(): CostLine;
}

/** @param period From `sinceMs` until now; both in milliseconds. */
export function createSummary(by: CostGrouping, { sinceMs, nowMs }: { sinceMs: number; nowMs: number }): Summary {
  const groups = new Map<string, CostLine>();
  const total = emptyLine('total', null);
  const add = (line: CostLine, entry: CostEntry, part: Amount): void => {
    line.micros += part.micros;
    line.instanceSeconds += part.seconds;
    line.instances += 1;
    if (entry.toMs === null) line.microsPerHour += hourlyMicros(entry);
  };
  const groupOf = (key: string, name: string | null): CostLine => {
    const known = groups.get(key) ?? emptyLine(key, name);
    groups.set(key, known);
    return known;
  };
  return {
    add(entry) {
      const whole = amountIn(entry, { fromMs: sinceMs, untilMs: nowMs });
      if (whole.micros === 0 && whole.seconds === 0) return;
      add(total, entry, whole);
      if (by === 'tag') return tagsOf(entry).forEach((tag) => add(groupOf(tag, null), entry, whole));
      if (by !== 'day') return add(groupOf(...keyOf(by, entry)), entry, whole);
      for (const period of daysOf(entry, sinceMs, nowMs)) {
        add(groupOf(dayOf(period.fromMs), null), entry, amountIn(entry, period));
      }
    },
    lines: () =>
      [...groups.values()].toSorted((a, b) =>
        by === 'day' ? (a.key < b.key ? -1 : 1) : b.micros - a.micros || (a.key < b.key ? -1 : 1),
      ),
    total: () => total,
  };
}

const emptyLine = (key: string, name: string | null): CostLine => ({
  ...{ key, name, micros: 0, instanceSeconds: 0, instances: 0, microsPerHour: 0 },
});

const tagsOf = ({ tags = {} }: CostEntry): string[] => {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? [''] : pairs;
};

function keyOf(by: Exclude<CostGrouping, 'day' | 'tag'>, entry: CostEntry): [key: string, name: string | null] {
  if (by === 'user') return [entry.user, null];
  if (by === 'type') return [`${entry.type} ${entry.market}`, null];
  if (by === 'job') return entry.job === null ? ['', 'clusters (no job)'] : [String(entry.job), entry.name];
  return [String(entry.cluster), entry.name];
}

function daysOf({ fromMs, toMs }: CostEntry, sinceMs: number, nowMs: number): Period[] {
  const start = Math.max(fromMs, sinceMs);
  const end = Math.min(toMs ?? nowMs, nowMs);
  const days: Period[] = [];
  for (let day = start - (start % dayMs); day <= end; day += dayMs) {
    days.push({ fromMs: Math.max(day, sinceMs), untilMs: Math.min(day + dayMs, nowMs) });
  }
  return days;
}

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
