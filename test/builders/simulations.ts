// Runs a property over many simulations and counts the subjects that they reached. A failure names its seed, path and the smallest simulation found,
// for a repeat.
import fc from 'fast-check';

import { simulationRuns } from '../support/fuzz-options.ts';

/** Records that a simulation reached a subject: a property that never reaches its subject fails. */
export type Met<Subject extends string> = (subject: Subject) => void;

export interface Simulations<Plan, Subject extends string> {
  plan: fc.Arbitrary<Plan>;
  subjects: readonly Subject[];
  run: (plan: Plan, met: Met<Subject>) => void;
}

export interface CheckOptions {
  /** The maximum; `npm test` runs fewer, see simulationRuns. */
  numRuns: number;
  /** Stop at the first failure as it is, without looking for a smaller one. */
  endOnFailure?: boolean;
}

/** Simulations are synchronous: a limit ends none of them, and fails only a run on a slow machine. */
export const simulationTimeoutMs = 1_800_000;

/** Throws when a simulation breaks its rules; otherwise returns the share of simulations, 0 to 1, that reached each subject. */
export function checkSimulations<Plan, Subject extends string>(
  { plan, subjects, run }: Simulations<Plan, Subject>,
  { numRuns: max, ...options }: CheckOptions,
): Record<string, number> {
  const numRuns = Math.min(max, simulationRuns(process.env));
  const counts = new Map<Subject, number>(subjects.map((subject) => [subject, 0]));
  fc.assert(
    fc.property(plan, (each) => {
      const met = new Set<Subject>();
      run(each, (subject) => met.add(subject));
      for (const subject of met) counts.set(subject, (counts.get(subject) ?? 0) + 1);
    }),
    { numRuns, ...options },
  );
  return Object.fromEntries([...counts].map(([subject, count]) => [subject, count / numRuns]));
}

/** One line for the log of a test run. */
export function describeShares(shares: Record<string, number>): string {
  return Object.entries(shares)
    .map(([subject, share]) => `${subject} ${(100 * share).toFixed(1)} %`)
    .join(', ');
}

/** A rule of the simulation; the message is only built when the rule is broken. */
export function must(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Error(message());
}

/** The nth element of a list, modulo its length; undefined when the list is empty. */
export function pick<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[n % list.length];
}

export function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
