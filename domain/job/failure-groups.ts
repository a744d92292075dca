// Failed attempts of a job by their cause, as a cluster groups the failures of its instances: thousands of tasks fail in a few ways.
import type { TaskResult } from './protocol.ts';

export interface FailureGroup {
  /** `EXIT_1`, `SIGTERM`, `INSTANCE_LOST`; `OTHER` for causes beyond the first twenty. */
  code: string;
  /** How the newest of them failed. */
  text: string;
  /** Attempts, those that ran again included. */
  count: number;
  lastAtMs: number;
}

/** By code. */
export type FailureCauses = Record<string, Omit<FailureGroup, 'code'>>;

/** Exit codes are a command's own, and there may be 255 of them. */
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

/** The most frequent first. */
export const failureGroups = (causes: FailureCauses = {}): FailureGroup[] =>
  Object.entries(causes)
    .map(([code, group]) => ({ code, ...group }))
    .toSorted((a, b) => b.count - a.count || b.lastAtMs - a.lastAtMs);
