// The default duration of a wait: simulated time.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ClusterTimeoutError } from '../../sdk/cluster-errors.ts';
import { waitForWorkers } from '../../sdk/cluster-wait.ts';
import { aCluster } from './stand-in-api.ts';

const minuteMs = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('does not count the time in which a cluster waits for capacity, unless a timeout is given', async () => {
  const startedMs = Date.now();
  const waitingForCapacity = {
    since: new Date(startedMs).toISOString(),
    nextTry: new Date(startedMs + minuteMs).toISOString(),
    until: new Date(startedMs + 30 * minuteMs).toISOString(),
    missing: 1,
    text: 'no zone has m7i.large now',
  };
  const look = () => {
    const isWaiting = Date.now() < startedMs + 30 * minuteMs;
    return Promise.resolve({
      ...aCluster({ status: 'starting', dask: { workersStarted: 0 } }),
      waitingForCapacity: isWaiting ? waitingForCapacity : null,
    });
  };
  const ends = async (options: { timeoutMs?: number }): Promise<number> => {
    const beganMs = Date.now();
    return waitForWorkers(look, 1, options).then(
      () => 0,
      (error: unknown) => (error instanceof ClusterTimeoutError ? (Date.now() - beganMs) / minuteMs : -1),
    );
  };
  const both = Promise.all([ends({}), ends({ timeoutMs: 5 * minuteMs })]);
  await vi.advanceTimersByTimeAsync(60 * minuteMs);
  const [patient, given] = await both;
  expect(given).toBe(5);
  expect(patient).toBeGreaterThan(39);
  expect(patient).toBeLessThanOrEqual(40);
});
