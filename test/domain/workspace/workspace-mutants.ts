// Named ways of breaking the rules of a workspace; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const workspaceMutants: Mutant[] = [
  {
    name: 'a key works for another body',
    file: 'workspace/admit.ts',
    from: 'if (earlier.bodyHash !== item.bodyHash) return { error: mismatch };',
    to: '',
  },
  {
    name: 'a key is forgotten',
    file: 'workspace/admit.ts',
    from: '  remember(state, item.idempotencyKey, { number, admissionId, bodyHash, atMs: nowMs });\n',
    to: '',
  },
  {
    name: 'a number is given twice',
    file: 'workspace/admit.ts',
    from: '  state.block.next += 1;\n  return state.block.next - 1;',
    to: '  return state.block.next;',
  },
  {
    name: 'limits are off by one',
    file: 'workspace/use.ts',
    from: 'used[key] + more[key] <= limit',
    to: 'used[key] + more[key] <= limit + 1',
  },
  {
    name: 'a limit cannot be used up (>= for >)',
    file: 'workspace/use.ts',
    from: 'used[key] + more[key] <= limit',
    to: 'used[key] + more[key] < limit',
  },
  {
    name: 'a name of the workspace’s own can be taken',
    file: 'workspace/admit.ts',
    from: 'if (reservedName.test(item.name)) return { error: nameReserved };',
    to: '',
  },
  {
    name: 'the wrong number is released',
    file: 'workspace/holders.ts',
    from: 'holder.number !== number',
    to: 'holder.number !== number + 1',
  },
  {
    name: 'a reservation is started twice',
    file: 'workspace/holders.ts',
    from: "  for (const holder of batch) holder.state = 'starting';\n",
    to: '',
  },
];
