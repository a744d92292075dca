// Decides which launch errors are retried. A repeated launch finds the instances of the first attempt, so a launch of unknown outcome is retried.
// Errors with an unknown code are retried a limited number of times; invalid requests are not retried.
import { ApplicationFailure } from '@temporalio/activity';

import { RopewalkError } from '../domain/errors.ts';
import { maxUnknownLaunches } from '../domain/cluster/limits.ts';

/**
 * Returns the error to throw after that many attempts. Instances that the attempts may have launched carry the cluster's tags and are terminated with
 * the cluster at the latest.
 */
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
