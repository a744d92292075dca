// Which launch errors are retried. A repeated launch finds what the first attempt created, so a launch of unknown outcome is retried.
// Errors with an unknown code are retried a limited number of times; invalid requests are not retried.
import { ApplicationFailure } from '@temporalio/activity';

import { RopewalkError } from '../domain/errors.ts';
import { maxUnknownLaunches } from '../domain/cluster/limits.ts';

/** What to throw instead, after so many tries. What they may have launched has its cluster's tags, and ends with it at the latest. */
export function judgeLaunchError(error: unknown, tries: number): unknown {
  if (!(error instanceof RopewalkError)) return error;
  const { code } = error.problem;
  const isTiresome = code === 'INTERNAL' && tries >= maxUnknownLaunches;
  if (code !== 'VALIDATION' && !isTiresome) return error;
  return ApplicationFailure.create({
    message: error.message,
    type: code === 'VALIDATION' ? 'InvalidRequest' : 'UnknownAnswer',
    nonRetryable: true,
    cause: error,
  });
}
