// A simulation of one workflow under repeated checks: it works, fails for many reasons, and is redeployed. The oracle keeps its whole history and
// judges each reset by it.
import fc from 'fast-check';

import { maxResetsADay, slowAttempts, stuckAttempts } from '../../domain/stuck/limits.ts';
import type { Reset, StuckObservation } from '../../domain/stuck/state.ts';
import type { StuckRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must } from './simulations.ts';

const subjects = [
  'reset',
  'too often',
  'other code',
  'other fault',
  'other cause',
  'only waits',
  'out of time',
  'tried too little',
  'done in one',
  'not found',
] as const;
type Subject = (typeof subjects)[number];

const event = 'HistoryEvent(id: 9, TimerStarted)';
const violation = '[TMPRL1100] Nondeterminism error: ';
const known = [
  `Update machine does not handle this event: ${event}`,
  `Signal external WF machine does not handle this event: ${event}`,
  `No command scheduled for event ${event}`,
  "Activity type of scheduled event 'a' does not match activity type of activity command 'b'",
];
const others = ['a workflow module is missing', `something said: ${violation}${known[0]}`];
const anything = fc.record({
  waitMs: fc.constantFrom(0, 60_000, 3_600_000, 20 * 3_600_000),
  attempt: fc.constantFrom(1, 2, 3, 3, 4, 9, 10, 10),
  cause: fc.constantFrom(
    'NON_DETERMINISTIC_ERROR',
    'NON_DETERMINISTIC_ERROR',
    'NON_DETERMINISTIC_ERROR',
    'cause 23',
    null,
  ),
  machine: fc.constantFrom(...known, ...known, ...others),
  wroteBy: fc.constantFrom('a', 'a', 'b', ''),
  failsBy: fc.constantFrom('a', 'a', 'a', ''),
  hasUpdate: fc.boolean(),
  isRepeated: fc.boolean(),
  isFound: fc.constantFrom(true, true, true, false),
});
type Step = typeof anything extends fc.Arbitrary<infer T> ? T : never;
const stuck: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.constantFrom(60_000, 60_000, 3_600_000, 10 * 3_600_000),
  ...{ attempt: fc.constant(3), cause: fc.constant('NON_DETERMINISTIC_ERROR'), machine: fc.constantFrom(...known) },
  ...{ wroteBy: fc.constant('a'), failsBy: fc.constant('a') },
  ...{ hasUpdate: fc.boolean(), isRepeated: fc.constant(true), isFound: fc.constant(true) },
});
const step = fc.oneof({ arbitrary: stuck, weight: 3 }, { arbitrary: anything, weight: 2 });
const plan = fc.array(step, { minLength: 1, maxLength: 40, size: 'max' });

export function checkStuckSimulations(rules: StuckRules, options: CheckOptions): Record<string, number> {
  return checkSimulations(
    { plan, subjects, run: (each: Step[], met) => runStuckSimulation(rules, each, met) },
    options,
  );
}

function runStuckSimulation(rules: StuckRules, steps: Step[], met: Met<Subject>): void {
  const dayMs = 24 * 3_600_000;
  const resetAtMs: number[] = [];
  let memory: Reset[] = rules.rememberReset([], 'job/2', 0);
  let nowMs = 0;
  for (const each of steps) {
    nowMs += each.waitMs;
    const decision = rules.decideStuck(foundIn(each), memory, nowMs);
    const lately = resetAtMs.filter((atMs) => nowMs - atMs < dayMs).length;
    const why = reasonAgainst(each, lately);
    if (why !== null) met(why);
    must((decision.do === 'reset') === (why === null), () => `${decision.do} against ${why}`);
    const isHopeless = why === 'only waits' || why === 'tried too little';
    must(why === null || (decision.do === 'nothing') === isHopeless, () => `${decision.do} though ${why}`);
    if (decision.do !== 'reset') continue;
    met('reset');
    must(decision.toEventId === 8, () => `reset to ${decision.toEventId}`);
    resetAtMs.push(nowMs);
    memory = rules.rememberReset(memory, 'job/1', nowMs);
    must(memory.length <= maxResetsADay + 1, () => `it remembers ${memory.length}`);
  }
}

/** Written from the promise, not from the code. */
function reasonAgainst(each: Step, lately: number): Subject | null {
  if (each.attempt < stuckAttempts) return 'tried too little';
  if (each.cause === null) return each.attempt < slowAttempts ? 'only waits' : 'out of time';
  if (each.cause !== 'NON_DETERMINISTIC_ERROR') return 'other cause';
  if (!known.includes(each.machine)) return 'other fault';
  if (!each.isFound) return 'not found';
  if (!each.hasUpdate && !each.isRepeated) return 'done in one';
  if (each.wroteBy === '' || each.wroteBy !== each.failsBy) return 'other code';
  return lately >= maxResetsADay ? 'too often' : null;
}

function foundIn({
  attempt,
  cause,
  machine,
  wroteBy,
  failsBy,
  hasUpdate,
  isRepeated,
  isFound,
}: Step): StuckObservation {
  const message = known.includes(machine) ? `${violation}${machine}` : machine;
  return {
    ...{ workflowId: 'job/1', runId: 'r', attempt },
    failure: cause === null ? null : { cause, message, buildId: failsBy },
    writer: cause === null || !isFound ? null : { completedEventId: 8, buildId: wroteBy, hasUpdate, isRepeated },
  };
}
