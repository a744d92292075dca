// Named ways of breaking the rules of Dask clusters; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const daskMutants: Mutant[] = [
  {
    name: 'a cluster launches at the moment of its end',
    file: 'cluster/plan.ts',
    from: '...(end === null ? [',
    to: '...(state.stopRequested === null ? [',
  },
  {
    name: 'after the deadline of a drain nobody waits to hear how it went',
    file: 'cluster/dask-plan.ts',
    from: 'nowMs < instance.drain.deadlineMs + drainGraceMs;',
    to: 'nowMs < instance.drain.deadlineMs;',
  },
  {
    name: 'a worker that is scaled away is not drained',
    file: 'cluster/dask-plan.ts',
    from: "return canDrain && instance.state === 'ready'",
    to: "return !canDrain && instance.state === 'ready'",
  },
  {
    name: 'the busiest workers go first',
    file: 'cluster/slots.ts',
    from: 'worth(b) - worth(a)',
    to: 'worth(a) - worth(b)',
  },
  {
    name: 'a place that a launch will fill counts as free',
    file: 'cluster/slots.ts',
    from: '.slice(0, places.length)',
    to: '.slice(0, target - 1)',
  },
  {
    name: 'the scheduler moves like a worker',
    file: 'cluster/slots.ts',
    from: 'instance.slot > 0 && isServing(instance)',
    to: 'isServing(instance)',
  },
  {
    name: 'drain numbers are used again',
    file: 'cluster/plan.ts',
    from: 'state.dask.nextDrainId += decision.drains.length;',
    to: '',
  },
  {
    name: 'a drain that is over stays among the orders in silence',
    file: 'cluster/apply.ts',
    from: '  if (gone.some(({ drain }) => drain !== null && drain.outcome === null)) touchOrders(state);\n',
    to: '',
  },
  {
    name: 'a lost scheduler is replaced',
    file: 'cluster/dask-plan.ts',
    from: '    schedulerEnd(state, dask) ??\n',
    to: '',
  },
  {
    name: 'a scheduler that does not answer is kept for ever',
    file: 'cluster/dask-plan.ts',
    from: '    unresponsiveEnd(dask, settings) ??\n',
    to: '',
  },
  {
    name: 'time alone ends a cluster whose scheduler was once silent',
    file: 'cluster/unresponsive.ts',
    from: '    delete dask.unresponsive;\n',
    to: '',
  },
  {
    name: 'a scheduler that does not answer is told of in every report',
    file: 'cluster/unresponsive.ts',
    from: '  if (known !== undefined) return;\n',
    to: '',
  },
  {
    name: 'a scheduler is given up before its time',
    file: 'cluster/unresponsive.ts',
    from: 'if (saidAtMs - sinceMs <',
    to: 'if (2 * (saidAtMs - sinceMs) <',
  },
  {
    name: 'a cluster without workers has never started',
    file: 'cluster/view.ts',
    from: ' || (state.target === 1 && ready.length > 0);',
    to: ';',
  },
  {
    name: 'idle since the report, not since it was idle',
    file: 'cluster/dask.ts',
    from: 'nowMs - report.idleForMs;',
    to: 'nowMs;',
  },
  {
    name: 'every report without a client begins the wait anew',
    file: 'cluster/dask.ts',
    from: '(dask.noClientSinceMs ?? nowMs);',
    to: 'nowMs;',
  },
  {
    name: 'adaptive scaling takes workers away at once',
    file: 'cluster/dask.ts',
    from: '  if (nowMs < dask.fewer.sinceMs + fewerAfterMs) return;\n',
    to: '',
  },
  {
    name: 'adaptive scaling follows the last wish of the minute, not the most',
    file: 'cluster/dask.ts',
    from: 'Math.max(dask.fewer.most, wish);',
    to: 'wish;',
  },
  {
    name: 'a kept worker goes beyond the maximum',
    file: 'cluster/dask.ts',
    from: 'state.target - 1 < (state.dask?.adaptive?.maximum ?? Infinity);',
    to: 'state.target > 0;',
  },
  {
    name: 'a worker that was sent away counts as a failure',
    file: 'cluster/lose.ts',
    from: ' && !wasSent) failSlot(',
    to: ') failSlot(',
  },
  {
    name: 'old news take a process back',
    file: 'cluster/dask.ts',
    from: '  if (before !== undefined && rank[news.state] < rank[before]) return;\n',
    to: '',
  },
  {
    name: 'nobody wakes for the end of a drain',
    file: 'cluster/dask-plan.ts',
    from: '[...silences, ...drains, start,',
    to: '[...silences, start,',
  },
  {
    name: 'a worker that vanished is not looked at',
    file: 'cluster/dask.ts',
    from: '  suspectVanished(state, dask, report);\n',
    to: '',
  },
  {
    name: 'an environment that failed is built again',
    file: 'cluster/dask.ts',
    from: "if (why.code === 'ENVIRONMENT_FAILED') slotHistory(state, instance.slot).givenUp = why;",
    to: '',
  },
];
