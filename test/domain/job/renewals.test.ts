// The cost of lease renewals in a job's history.
import { expect, it } from 'vitest';

import { createJobState } from '../../../domain/job/create.ts';
import { expireLeases } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeAnswer, ExchangeItem } from '../../../domain/job/protocol.ts';
import type { JobState } from '../../../domain/job/state.ts';
import { defaultLeaseMs, maxGrownLeaseMs } from '../../../domain/job/limits.ts';

const hourMs = 3_600_000;

function aJob(leaseMs: number): JobState {
  return createJobState(
    { number: 1, workspace: 'w', submittedAtMs: 0 },
    {
      ...{ name: 'long', command: 'c', array: '0', taskCount: 1, instances: 1, leaseMs, retries: 0 },
      ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
    },
  );
}

const say = (state: JobState, nowMs: number, item: Partial<ExchangeItem>): ExchangeAnswer =>
  exchange(
    state,
    { instance: 'i_1', claim: 1, want: 0, running: [], results: [], head: false, ...item },
    nowMs,
    (index) => index,
  );

/** An agent that renews as late as permitted; returns the times. */
function renewUntil(state: JobState, untilMs: number): number[] {
  const times: number[] = [];
  let { renewWithinMs } = say(state, 0, { want: 1 });
  for (let nowMs = renewWithinMs; nowMs < untilMs; nowMs += renewWithinMs) {
    times.push(nowMs);
    expect(expireLeases(state, nowMs)).toEqual([]);
    ({ renewWithinMs } = say(state, nowMs, { running: [1] }));
  }
  return times;
}

it('a task that runs for long is renewed more and more seldom, down to a bound', () => {
  const times = renewUntil(aJob(defaultLeaseMs), 24 * hourMs);
  const within = (fromMs: number, toMs: number): number => times.filter((ms) => ms >= fromMs && ms < toMs).length;
  expect(within(0, 6 * 60_000)).toBe(11);
  expect(within(23 * hourMs, 24 * hourMs)).toBe(hourMs / (maxGrownLeaseMs / 3));
  expect(times.length).toBeLessThan(500);
});

it('its end is noticed after a quarter of the time that it has run, or sooner', () => {
  for (const ranMs of [hourMs / 60, hourMs / 4, hourMs, 12 * hourMs]) {
    const state = aJob(defaultLeaseMs);
    const lastMs = renewUntil(state, ranMs).at(-1) ?? 0;
    const [lease] = state.leases;
    const periodMs = (lease?.deadlineMs ?? 0) - lastMs;
    expect(periodMs).toBeLessThanOrEqual(Math.max(defaultLeaseMs, Math.min(lastMs / 4, maxGrownLeaseMs)));
    expect(expireLeases(state, lastMs + periodMs)).toMatchObject([{ instance: 'i_1' }]);
  }
});

it('a lease that its user has made longer than the bound stays as it is', () => {
  expect(renewUntil(aJob(3 * hourMs), 24 * hourMs)).toHaveLength(23);
});
