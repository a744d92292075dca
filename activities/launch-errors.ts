// Which errors of a launch are worth another try. The same launch repeated finds what the first try made, so as long as the
// outcome is open it is repeated; but not for ever where nobody understands why, and not at all where the request is wrong.
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
