// Named ways of breaking the rules of a workspace's looks; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const lookMutants: Mutant[] = [
  {
    name: 'what was seen gone once is gone',
    file: 'workspace/reconcile.ts',
    from: 'else if (nowMs >= holder.seen.atMs + lookAgainMs) {',
    to: 'if (holder.seen !== undefined) {',
  },
  {
    name: 'an answer that never came is taken for an end',
    file: 'workspace/reconcile.ts',
    from: "|| sighting.job === 'unknown' || sighting.cluster === 'unknown') continue;",
    to: ') continue;',
  },
  {
    name: 'what was seen alive in between still counts as gone',
    file: 'workspace/reconcile.ts',
    from: 'if (what === null) delete holder.seen;',
    to: 'if (what === null) continue;',
  },
  {
    name: 'a job that has not started its cluster yet is ended',
    file: 'workspace/reconcile.ts',
    from: "return cluster === 'closed' ? 'cluster' : null;",
    to: "return isClusterOver ? 'cluster' : null;",
  },
  {
    name: 'a reservation is looked at before its workflows can be there',
    file: 'workspace/reconcile.ts',
    from: ' && nowMs >= holder.reservedAtMs + youngHolderMs);',
    to: ');',
  },
];
