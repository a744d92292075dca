// The errors that end a launch, and after how many tries.
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';

import { judgeLaunchError } from '../../activities/launch-errors.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { maxUnknownLaunches } from '../../domain/cluster/limits.ts';

/** The number of tries, of the first hundred, after which a launch with this error is given up; null for none. */
function givenUpAfter(error: unknown): number | null {
  for (let tries = 1; tries <= 100; tries += 1) {
    const judged = judgeLaunchError(error, tries);
    if (judged instanceof ApplicationFailure && judged.nonRetryable === true) return tries;
    expect(judged).toBe(error);
  }
  return null;
}

const ours = (code: ErrorCode): RopewalkError => new RopewalkError({ code, message: 'AWS said so (AWS request r-1)' });

describe('a launch', () => {
  it.each([
    { what: 'with a wrong request', error: ours('VALIDATION'), tries: 1 },
    { what: 'with an unknown answer', error: ours('INTERNAL'), tries: maxUnknownLaunches },
    { what: 'that the cloud could not serve', error: ours('UNAVAILABLE'), tries: null },
    { what: 'that lost its connection', error: new Error('socket hang up'), tries: null },
  ])('$what ends after $tries tries', ({ error, tries }) => {
    expect(givenUpAfter(error)).toBe(tries);
  });

  it('that ends shows what its cloud said', () => {
    const judged = judgeLaunchError(ours('INTERNAL'), maxUnknownLaunches);
    expect(judged).toMatchObject({ message: 'AWS said so (AWS request r-1)', type: 'UnknownAnswer' });
  });
});
