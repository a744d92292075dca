// Named ways of breaking how a job and its cluster get smaller; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const shrinkMutants: Mutant[] = [
  {
    name: 'an instance is given back while it works',
    file: 'job/shrink.ts',
    from: ' && !busy.has(id) ? [id]',
    to: ' ? [id]',
  },
  {
    name: 'the head is given back',
    file: 'job/shrink.ts',
    from: ' && head === false && givenBack',
    to: ' && givenBack',
  },
  {
    name: 'who is given back may go on claiming',
    file: 'job/rules.ts',
    from: '  if (instance.givenBack === true) return {',
    to: '  if (instance.lost && instance.givenBack === true) return {',
  },
  {
    name: 'a retry a moment ago does not count',
    file: 'job/shrink.ts',
    from: 'return state.emptySinceMs + shrinkAfterMs;',
    to: 'return state.emptySinceMs;',
  },
];

export const giveBackMutants: Mutant[] = [
  {
    name: 'what is given back takes a place that others hold',
    file: 'cluster/give-back.ts',
    from: '    moveToSlot(state, instance, state.target - 1);\n',
    to: '',
  },
  {
    name: 'the head can be given back',
    file: 'cluster/give-back.ts',
    from: '      each.slot > 0 &&\n',
    to: '',
  },
];
