// Named ways of breaking the rules of slots: whose instance is taken back, whose instances fail in a row; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const slotMutants: Mutant[] = [
  {
    name: 'a slot waits until the instance that is taken back has gone',
    file: 'cluster/slots.ts',
    from: '    ...state.instances.filter((instance) => !isVacating(state, instance)).map((instance) => instance.slot),\n',
    to: '    ...state.instances.map((instance) => instance.slot),\n',
  },
  {
    name: 'a slot that is taken back is filled again and again',
    file: 'cluster/slots.ts',
    from: '    ...state.instances.filter((instance) => !isVacating(state, instance)).map((instance) => instance.slot),\n',
    to: '    ...state.instances.filter((each) => !state.instances.some((other) => other.slot === each.slot && isVacating(state, other))).map((instance) => instance.slot),\n',
  },
  {
    name: 'whoever is taken back is ended for its successor',
    file: 'cluster/slots.ts',
    from: 'if (isVacating(state, instance) && worksOn(state)) return false;\n  if (instance.slot >= state.target) return true;\n  if (isVacating(state, instance)) return false;\n',
    to: 'if (isVacating(state, instance) && worksOn(state) && instance.slot >= state.target) return false;\n  if (instance.slot >= state.target) return true;\n',
  },
  {
    name: 'a successor is ended for the one that is taken back',
    file: 'cluster/slots.ts',
    from: "other.state !== 'stopping' && !isVacating(state, other),",
    to: "other.state !== 'stopping',",
  },
  {
    name: 'the head has a successor',
    file: 'cluster/slots.ts',
    from: "instance.leavesAtMs !== undefined && instance.role === 'worker';",
    to: 'instance.leavesAtMs !== undefined;',
  },
  {
    name: 'a cluster is ready with one that is taken back',
    file: 'cluster/view.ts',
    from: ' || isVacating(state, instance)) return false;',
    to: ') return false;',
  },
  {
    name: 'one that was taken back stays in the books',
    file: 'cluster/plan.ts',
    from: "    ...grouped(taken, 'its cloud took it back'),\n",
    to: '',
  },
  {
    name: 'one that is taken back is given back, and the target with it',
    file: 'cluster/give-back.ts',
    from: ' &&\n      !isVacating(state, each),\n',
    to: ',\n',
  },
  {
    name: 'the job is not told of one that was taken back',
    file: 'cluster/apply.ts',
    from: 'if (reason.code !== takenBack && (',
    to: 'if ((',
  },
  {
    name: 'the job is not told of one that was ended as extra',
    file: 'cluster/apply.ts',
    from: 'reason.code === notWanted && registeredAtMs !== null && state.stopRequested === null;',
    to: 'reason.code === notWanted && registeredAtMs === 0;',
  },
  {
    name: 'one that is taken back is ended when its slot is wanted no more',
    file: 'cluster/slots.ts',
    from: '  if (isVacating(state, instance) && worksOn(state)) return false;\n',
    to: '  void worksOn;\n',
  },
  {
    name: 'good work that ends in order leaves the row of failures as it is',
    file: 'cluster/lose.ts',
    from: '  history.failures = 0;\n',
    to: '',
  },
  {
    name: 'failures in a row have no pauses',
    file: 'cluster/plan.ts',
    from: 'const fillable = launchableSlots(state).filter((slot) => nowMs >= fillableAtMs(state, slot));',
    to: 'const fillable = launchableSlots(state);',
  },
  {
    name: 'nobody wakes at the end of a pause',
    file: 'cluster/plan.ts',
    from: '    times.push(Math.max(state.launchBackoff?.untilMs ?? 0, fillable));\n',
    to: '    times.push(state.launchBackoff?.untilMs ?? 0);\n',
  },
  {
    name: 'all are launched anew though none registers',
    file: 'cluster/doubt.ts',
    from: 'if (doubt === undefined || vacant.length === 0) return vacant;',
    to: 'if (doubt === undefined || vacant.length > 0) return vacant;',
  },
  {
    name: 'the next is tried before the last has failed',
    file: 'cluster/doubt.ts',
    from: '  if (isUnderWay) return [];\n',
    to: '',
  },
  {
    name: 'whoever registers changes nothing for those that wait',
    file: 'cluster/doubt.ts',
    from: '  delete state.doubt;\n',
    to: '  void state;\n',
  },
  {
    name: 'those that were launched before the doubt count as tries',
    file: 'cluster/doubt.ts',
    from: 'registeredAtMs === null && launchSeq >= doubt.fromSeq;',
    to: 'registeredAtMs === null && launchSeq >= 0;',
  },
  {
    name: 'those that wait are not given up with the one that is tried',
    file: 'cluster/doubt.ts',
    from: '  for (const slot of vacantSlots(state)) slotHistory(state, slot).givenUp = reason;\n',
    to: '  void [slotHistory, reason];\n',
  },
];
