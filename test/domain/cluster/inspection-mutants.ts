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
    from: "  if (seen !== 'unknown') inspected.missing = 0;\n  else if",
    to: "  if (seen === 'unknown') if",
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
];
