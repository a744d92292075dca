// Named ways of breaking the rules of inspections: who is asked about, when, and what follows; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const inspectionMutants: Mutant[] = [
  {
    name: 'nobody wakes to ask about the quiet',
    file: 'cluster/plan.ts',
    from: '  times.push(...daskWakes(state), ...inspectionWakes(state));\n',
    to: '  times.push(...daskWakes(state));\n',
  },
  {
    name: 'each instance is asked about at a moment of its own',
    file: 'cluster/inspections.ts',
    from: 'createdAtMs + Math.ceil((atMs - createdAtMs) / everyMs) * everyMs;',
    to: 'Math.max(atMs, createdAtMs + 0 * everyMs);',
  },
  {
    name: 'those that speak are asked about all the same',
    file: 'cluster/inspections.ts',
    from: 'Math.max(inspected.lastMs, heardAtMs) + quietMs',
    to: 'inspected.lastMs + quietMs',
  },
  {
    name: 'a question that has no answer yet is asked again',
    file: 'cluster/inspections.ts',
    from: 'registeredAtMs === null || inspected?.underWay === true) return null;',
    to: 'registeredAtMs === null) return null;',
  },
  {
    name: 'whoever was not shown now and then is lost',
    file: 'cluster/inspections.ts',
    from: "  if (look.seen !== 'unknown' && (look.tellsHung || inspected.underWay)) inspected.missing = 0;\n",
    to: '',
  },
  {
    name: 'what its cloud has forgotten is kept',
    file: 'cluster/inspections.ts',
    from: 'return inspected.missing >= maxMissing;',
    to: 'return inspected.missing > 1_000 * maxMissing;',
  },
  {
    name: 'one that is gone is kept because no job suspects it',
    file: 'cluster/apply.ts',
    from: 'if (suspicion === null && isMissing === null) continue;',
    to: 'if (suspicion === null) continue;',
  },
  {
    name: 'whoever has hung is kept as long as nobody misses it',
    file: 'cluster/apply.ts',
    from: 'Math.max(suspicion?.silent ?? 0, inspected?.silent ?? 0)',
    to: '(inspected, suspicion?.silent ?? 0)',
  },
  {
    name: 'one that has spoken again is lost for its old silence',
    file: 'cluster/inspections.ts',
    from: '  delete inspected.silent;\n',
    to: '',
  },
  {
    name: 'one that spoke a moment before is called silent',
    file: 'cluster/inspections.ts',
    from: 'return heardAtMs + quietMs <= inspected.lastMs;',
    to: 'return heardAtMs > 0;',
  },
  {
    name: 'silence counts while our own link is down',
    file: 'cluster/inspections.ts',
    from: "look.seen !== 'alive' || !look.linkWorks) return false;",
    to: "look.seen !== 'alive') return false;",
  },
  {
    name: 'a look at a suspect does not count for one that was missing',
    file: 'cluster/inspections.ts',
    from: '(look.tellsHung || inspected.underWay)',
    to: 'inspected.underWay',
  },
  {
    name: 'many that have hung at once are all replaced',
    file: 'cluster/apply.ts',
    from: 'return nearly >= massLossMinimum && nearly > live(state).length * massLossShare;',
    to: 'return nearly > 1_000;',
  },
  {
    name: 'the alarm goes on when they are heard again',
    file: 'cluster/apply.ts',
    from: '  if (state.alarm !== null && !isMassLoss(state)) state.alarm = null;\n',
    to: '',
  },
];
