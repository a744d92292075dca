// When a scheduler counts as silent, on the test's own clocks.
import { describe, expect, it } from 'vitest';

import { answered, asked, look, pulseLimits, silentForMs, startPulse } from '../../agent/dask/scheduler/liveness.ts';

const limits = pulseLimits(1_200_000);
const { everyMs } = limits;

/** Checks every `everyMs` up to `untilMs`, with the agent's query each time; returns the reports and their times. */
function run(answers: (nowMs: number) => boolean, untilMs: number, isRunning: (nowMs: number) => boolean = () => true) {
  let pulse = startPulse(0);
  const reports: { atMs: number; silentMs: number | null }[] = [];
  for (let nowMs = everyMs; nowMs <= untilMs; nowMs += everyMs) {
    if (!isRunning(nowMs)) continue;
    const seen = look(pulse, limits, nowMs);
    pulse = seen.pulse;
    if (seen.notifies) reports.push({ atMs: nowMs, silentMs: silentForMs(pulse, limits, nowMs) });
    pulse = asked(pulse, nowMs);
    if (answers(nowMs)) pulse = answered(pulse);
  }
  return reports;
}

describe('the pulse of a scheduler', () => {
  it('is not reported while it answers, or is silent for less than two minutes', () => {
    expect(run(() => true, 3_600_000)).toEqual([]);
    expect(run((nowMs) => nowMs < 60_000 || nowMs >= 165_000, 3_600_000)).toEqual([]);
  });

  it('is reported once when it stays out, again at its limit, and once when it is back', () => {
    expect(run((nowMs) => nowMs < 60_000 || nowMs >= 600_000, 1_800_000)).toEqual([
      { atMs: 180_000, silentMs: 120_000 },
      { atMs: 615_000, silentMs: null },
    ]);
    const reports = run((nowMs) => nowMs < 60_000, 1_600_000);
    expect(reports.slice(0, 2)).toEqual([
      { atMs: 180_000, silentMs: 120_000 },
      { atMs: 1_260_000, silentMs: 1_200_000 },
    ]);
    // Reports after the limit are repeated, every two minutes: the outcome of the first is unknown.
    expect(reports.slice(2).map(({ atMs }) => atMs)).toEqual([1_380_000, 1_500_000]);
  });

  it('does not count the time in which the agent did not ask', () => {
    const asleep = (nowMs: number) => nowMs >= 600_000 && nowMs < 3_000_000;
    expect(
      run(
        (nowMs) => !asleep(nowMs + everyMs),
        3_600_000,
        (nowMs) => !asleep(nowMs),
      ),
    ).toEqual([]);
    // Silent before, asleep, and silent after: the count restarts, and no report announces a recovery meanwhile.
    const reports = run(
      (nowMs) => nowMs < 60_000,
      3_300_000,
      (nowMs) => !asleep(nowMs),
    );
    expect(reports).toEqual([{ atMs: 180_000, silentMs: 120_000 }]);
  });
});
