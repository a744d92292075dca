// Selects the failures of a task that are retried: all, or those whose exit codes and signals a rule names. Also limits how long a new job can retry
// unfinished tasks.
import { RopewalkError } from '../errors.ts';

/** The sealed bundle of a job with unfinished tasks is kept for this long after its end, for retries. */
export const retriableForMs = 7 * 86_400_000;

/** Ranges of exit codes, and whether a command that a signal ended is retried too. */
export interface RetryRules {
  exitCodes: [first: number, last: number][];
  signals: boolean;
}

/** Parses `1,75,100-120,signal`. Throws VALIDATION, field `retryOnExit`. */
export function readRetryRules(text: string): RetryRules {
  const rules: RetryRules = { exitCodes: [], signals: false };
  for (const part of text.split(',').map((each) => each.trim())) {
    const range = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part);
    const [first, last] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    if (part === 'signal') rules.signals = true;
    else if (first >= 1 && last >= first && last <= 255) rules.exitCodes.push([first, last]);
    else throw invalid(part);
  }
  return rules;
}

export function mayRetry(
  rules: RetryRules | undefined,
  { exitCode, signal }: { exitCode: number | null; signal: string | null },
): boolean {
  if (rules === undefined) return true;
  if (signal !== null || exitCode === null) return rules.signals;
  return rules.exitCodes.some(([first, last]) => exitCode >= first && exitCode <= last);
}

const invalid = (part: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'retryOnExit',
    message: `retryOnExit: ${JSON.stringify(part.slice(0, 80))} is neither an exit code from 1 to 255, a range, nor "signal".`,
    hint: 'For example 75,100-120,signal.',
  });
