// Failed attempts of a job grouped by cause, as a cluster groups the failures of its instances: thousands of tasks fail for a few causes.
import type { TaskResult } from './protocol.ts';

export interface FailureGroup {
  /** `EXIT_1`, `SIGTERM`, `INSTANCE_LOST`; `OTHER` for causes beyond the first twenty. */
  code: string;
  /** The newest failure of the group. */
  text: string;
  /** Number of attempts, retried ones included. */
  count: number;
  lastAtMs: number;
}

/** By code. */
export type FailureCauses = Record<string, Omit<FailureGroup, 'code'>>;

/** Commands choose their exit codes, and there may be 255 of them. */
const maxCauses = 20;
const maxTextChars = 300;
const other = 'OTHER';
export const lostCause = 'INSTANCE_LOST';

export const causeOf = ({ exitCode, signal }: Pick<TaskResult, 'exitCode' | 'signal'>): string =>
  signal ?? (exitCode === null ? other : `EXIT_${exitCode}`);

export function noteCause(state: { causes?: FailureCauses }, code: string, text: string, nowMs: number): void {
  const causes = (state.causes ??= {});
  const isNew = causes[code] === undefined && Object.keys(causes).length >= maxCauses;
  const key = isNew ? other : code;
  const count = (causes[key]?.count ?? 0) + 1;
  causes[key] = { text: text.slice(0, maxTextChars), count, lastAtMs: nowMs };
}

/** Most frequent first. */
export const failureGroups = (causes: FailureCauses = {}): FailureGroup[] =>
  Object.entries(causes)
    .map(([code, group]) => ({ code, ...group }))
    .toSorted((a, b) => b.count - a.count || b.lastAtMs - a.lastAtMs);
