// Whether a request exceeds a limit of the workspace or of its user.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { exceeded, type Quota } from '../../../domain/quota/usage.ts';

const none = { running: 0, instances: 0, vcpus: 0 };
const aQuota = (workspace: Partial<Quota['workspace']>, user: Partial<Quota['user']> = {}): Quota => ({
  workspace: { use: none, limits: { running: 9, instances: 9, vcpus: 9 }, ...workspace },
  user: { name: 'ada', use: none, limits: {}, ...user },
});

it('fills a limit and refuses one more', () => {
  const quota = aQuota({ use: { running: 8, instances: 5, vcpus: 5 } });
  expect(exceeded(quota, { running: 1, instances: 4, vcpus: 4 })).toBeNull();
  const refused = exceeded(quota, { running: 1, instances: 5, vcpus: 4 });
  expect(refused).toEqual({
    code: 'LIMIT_EXCEEDED',
    message: 'This would take the workspace to 10 instances; the limit is 9, and 5 are in use.',
    hint: 'Wait until another job or cluster ends, ask for less, or have an admin raise the limit.',
  });
});

it('names the user whose own limit is exceeded', () => {
  const quota = aQuota({}, { use: { running: 0, instances: 2, vcpus: 0 }, limits: { instances: 2 } });
  expect(exceeded(quota, { running: 1, instances: 1, vcpus: 1 })?.message).toContain('ada to 3 instances');
  expect(exceeded(quota, { running: 1, instances: 0, vcpus: 1 })).toBeNull();
});

it('refuses nothing that needs no more of a limit which was lowered below what is in use', () => {
  const quota = aQuota({ use: { running: 50, instances: 50, vcpus: 50 } });
  expect(exceeded(quota, { running: 0, instances: 0, vcpus: -3 })).toBeNull();
  expect(exceeded(quota, { running: 0, instances: 1, vcpus: 0 })).toMatchObject({ code: 'LIMIT_EXCEEDED' });
});

it('allows exactly what stays within every limit', () => {
  const size = fc.record({ running: fc.nat(5), instances: fc.nat(5), vcpus: fc.nat(5) });
  fc.assert(
    fc.property(size, size, size, size, (use, limits, ownLimits, more) => {
      const quota = aQuota({ use, limits }, { use, limits: ownLimits });
      const keys = ['running', 'instances', 'vcpus'] as const;
      const fits = keys.every(
        (key) => more[key] === 0 || use[key] + more[key] <= Math.min(limits[key], ownLimits[key]),
      );
      expect(exceeded(quota, more) === null).toBe(fits);
    }),
    { numRuns: 500 },
  );
});
