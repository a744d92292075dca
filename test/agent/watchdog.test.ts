// The watchdog timer's decision with simulated clocks: silence ends an agent, sleep does not.
import { expect, it } from 'vitest';

import { aliveWithin, heard, startWatchdog, tick, tickMs } from '../../agent/lifecycle/watchdog.ts';
import type { Clocks, Watchdog, Verdict } from '../../agent/lifecycle/watchdog.ts';

const limitMs = 30 * 60_000;
const stepMs = tickMs(limitMs);

/** A machine whose clocks a test moves. */
function machine(limit = limitMs) {
  let now: Clocks = { monotonicMs: 5_000, wallMs: 1_700_000_000_000 };
  let state: Watchdog = startWatchdog(limit, now);
  const pass = (monotonicMs: number, wallMs = monotonicMs): void => {
    now = { monotonicMs: now.monotonicMs + monotonicMs, wallMs: now.wallMs + wallMs };
  };
  const look = (): Verdict => {
    const ticked = tick(state, now);
    state = ticked.state;
    return ticked.verdict;
  };
  return {
    pass,
    look,
    hear: () => (state = heard(state, now)),
    /** Ticks in time until the watchdog fires or this much has passed; returns the duration. */
    run: (ms: number, everyMs = tickMs(limit)): { verdict: Verdict; tookMs: number } => {
      for (let tookMs = 0; tookMs < ms;) {
        pass(everyMs);
        tookMs += everyMs;
        const verdict = look();
        if (verdict === 'over') return { verdict, tookMs };
      }
      return { verdict: 'go on', tookMs: ms };
    },
  };
}

it('fires after the limit, not before, whatever the limit', () => {
  for (const limit of [5_000, 60_000, limitMs, 7 * 86_400_000]) {
    const { verdict, tookMs } = machine(limit).run(limit * 2);
    expect(verdict).toBe('over');
    expect(tookMs).toBeGreaterThanOrEqual(limit);
    expect(tookMs).toBeLessThan(limit + 2 * tickMs(limit));
  }
});

it('counts from the last answer', () => {
  const agent = machine();
  for (let round = 0; round < 5; round += 1) {
    expect(agent.run(limitMs - 2 * stepMs).verdict).toBe('go on');
    agent.hear();
  }
  expect(agent.run(limitMs * 2).verdict).toBe('over');
});

it('begins anew after sleep, whether the monotonic clock paused or went on', () => {
  const hourMs = 3_600_000;
  for (const monotonicMs of [hourMs, 20]) {
    const agent = machine();
    agent.run(limitMs - 2 * stepMs);
    agent.pass(monotonicMs, hourMs);
    expect(agent.look()).toBe('slept');
    expect(agent.run(limitMs - 2 * stepMs).verdict).toBe('go on');
    expect(agent.run(limitMs).verdict).toBe('over');
  }
});

it('never fires on a laptop that wakes for a moment now and then', () => {
  const agent = machine();
  for (let nap = 0; nap < 500; nap += 1) {
    agent.pass(nap % 2 === 0 ? 900_000 : 0, 900_000);
    expect(agent.look()).toBe('slept');
    expect(agent.run(10_000).verdict).toBe('go on');
  }
});

it('is not put off by a busy machine whose ticks come late, nor by a wall clock that is set back', () => {
  expect(machine().run(limitMs * 2, 3 * stepMs).verdict).toBe('over');
  const agent = machine();
  agent.run(limitMs / 2);
  agent.pass(stepMs, -3_600_000);
  expect(agent.look()).toBe('go on');
  expect(agent.run(limitMs / 2).verdict).toBe('over');
});

it('lets an agent speak at least three times within its limit', () => {
  expect(aliveWithin(180_000, limitMs)).toBe(180_000);
  expect(aliveWithin(180_000, 6_000)).toBe(2_000);
});
