// Named ways of breaking how agents hold leases before their turn; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const aheadMutants: Mutant[] = [
  {
    name: 'a lease that waited on a lost instance counts as a loss',
    file: 'job/exchange.ts',
    from: '      ...(isFirst ? {} : ahead),\n',
    to: '',
  },
  {
    name: 'what runs is taken for what waits',
    file: 'job/exchange.ts',
    from: '  delete lease.ahead;\n',
    to: '',
  },
  {
    name: 'what waits for its turn is taken for forgotten',
    file: 'job/exchange.ts',
    from: 'new Set([...item.running, ...(item.held ?? [])]);',
    to: 'new Set(item.running);',
  },
  {
    name: 'a task that was on a lost instance is granted beside others',
    file: 'job/exchange.ts',
    from: '!isFirst && runsAlone(state, again)',
    to: 'false',
  },
  {
    name: 'others are granted after one that has to be alone',
    file: 'job/exchange.ts',
    from: '    if (runsAlone(state, task)) break;\n',
    to: '',
  },
  {
    name: 'others are granted beside one that has to be alone',
    file: 'job/exchange.ts',
    from: '  if (own.some(({ task }) => runsAlone(state, task))) return [];\n',
    to: '',
  },
  {
    name: 'nobody knows which tasks waited on a lost instance',
    file: 'job/ahead.ts',
    from: '  if (!isOver(state)) for (const { task } of ahead) state.losses[task] ??= 0;\n',
    to: '',
  },
  {
    name: 'anybody may hand back a lease',
    file: 'job/ahead.ts',
    from: 'held.instance === id && returned.has(held.lease)',
    to: 'returned.has(held.lease)',
  },
  {
    name: 'what is handed back is forgotten',
    file: 'job/ahead.ts',
    from: '  state.requeued.unshift(...open.map(({ task }) => task));\n',
    to: '',
  },
  {
    name: 'what ran is handed back unharmed',
    file: 'job/ahead.ts',
    from: 'own.filter((held) => held.running)',
    to: 'own.filter(() => false)',
  },
];
