// Ways of breaking the rules of waiting for capacity; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const capacityMutants: Mutant[] = [
  {
    name: 'a wait has no end',
    file: 'cluster/capacity.ts',
    from: 'if (waiting !== null && deadlineMs !== null && nowMs >= deadlineMs) {',
    to: 'if (waiting !== null && deadlineMs === 0) {',
  },
  {
    name: 'a wait ends too soon',
    file: 'cluster/capacity.ts',
    from: 'return waitMs === undefined || !waiting ? null : waiting.sinceMs + waitMs;',
    to: 'return waitMs === undefined || !waiting ? null : waiting.sinceMs + waitMs / 2;',
  },
  {
    name: 'each try begins the wait anew',
    file: 'cluster/capacity.ts',
    from: 'const waiting = { sinceMs, tries: tries + 1, nextTryMs };',
    to: 'const waiting = { sinceMs: nowMs, tries: tries + 1, nextTryMs };',
  },
  {
    name: 'pauses do not grow',
    file: 'cluster/capacity.ts',
    from: 'minCapacityPauseMs * 2 ** Math.min(tries, 20)',
    to: 'minCapacityPauseMs',
  },
  {
    name: 'pauses grow without end',
    file: 'cluster/capacity.ts',
    from: 'Math.min(maxCapacityPauseMs, minCapacityPauseMs * 2 ** Math.min(tries, 20))',
    to: 'minCapacityPauseMs * 2 ** Math.min(tries, 20)',
  },
  {
    name: 'a wait goes on though nothing is missing',
    file: 'cluster/capacity.ts',
    from: 'if (waiting !== null) endWait(state, waiting, nowMs);',
    to: '',
  },
  {
    name: 'what is given up is asked for on',
    file: 'cluster/capacity.ts',
    from: "for (const slot of vacant) slotHistory(state, slot).givenUp = { code: 'NO_CAPACITY', text, atMs: nowMs };",
    to: '',
  },
  {
    name: 'nothing wakes it at the end of a wait',
    file: 'cluster/plan.ts',
    from: 'if (deadlineMs !== null && state.launches.length === 0) times.push(deadlineMs);',
    to: '',
  },
];
