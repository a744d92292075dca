// The beginnings of users' requests, in a fair order. A request works without a break until its first wait, so a user with many open requests would
// have all of them answered before another user's single one. In a turn of the event loop, waiting requests begin for some milliseconds: the next one
// is of the workspace, and in it of the user, whose requests have taken the least time. A request that meets no other begins at once.
import type { QuotaCaller } from './quotas.ts';

export interface FairQueue {
  /** Resolves when a request of this caller may begin. */
  enter(caller: QuotaCaller): Promise<void>;
}

interface Ports {
  monotonicMs: () => number;
  /** Calls it in the next turn of the event loop. What one call has begun works before the next call. */
  nextTurn?: (step: () => void) => void;
}

export function createFairQueue({ monotonicMs, nextTurn = setImmediate }: Ports): FairQueue {
  const workspaces = new Map<string | null, Workspace>();
  let waiting = 0;
  let isTaken = false;
  /** The request that has begun last, until its time is known. */
  let begun: { shares: Share[]; atMs: number } | null = null;

  const settle = (): void => {
    for (const share of begun?.shares ?? []) share.usedMs += Math.max(minMs, monotonicMs() - (begun?.atMs ?? 0));
    begun = null;
  };
  const beginNext = (): void => {
    const workspace = leastUsed(workspaces.values());
    const caller = leastUsed(workspace?.callers.values() ?? []);
    const begin = caller?.begins.shift();
    if (workspace === null || caller === null || begin === undefined) return;
    workspace.waiting -= 1;
    caller.waiting -= 1;
    waiting -= 1;
    begun = { shares: [workspace, caller], atMs: monotonicMs() };
    begin();
  };
  const plan = (): void => {
    const count = Math.max(1, Math.min(waiting, maxInTurn));
    let startedAtMs: number | null = null;
    const step = (): void => {
      settle();
      startedAtMs ??= monotonicMs();
      if (monotonicMs() - startedAtMs < turnMs) beginNext();
    };
    for (let at = 0; at < count; at += 1) nextTurn(step);
    nextTurn(() => {
      settle();
      if (waiting > 0) plan();
      else {
        // Without competition it does not matter who has used how much.
        workspaces.clear();
        isTaken = false;
      }
    });
  };
  const shareOf = ({ workspace: slug, id }: QuotaCaller): { workspace: Workspace; caller: Caller } => {
    const workspace = workspaces.get(slug) ?? { usedMs: 0, waiting: 0, callers: new Map<string, Caller>() };
    const caller = workspace.callers.get(id) ?? { usedMs: 0, waiting: 0, begins: [] };
    // Time in which it wanted nothing gives no advantage.
    raise(workspace, workspaces.values());
    raise(caller, workspace.callers.values());
    workspaces.set(slug, workspace);
    workspace.callers.set(id, caller);
    return { workspace, caller };
  };
  return {
    async enter(who) {
      const { workspace, caller } = shareOf(who);
      if (!isTaken) {
        isTaken = true;
        begun = { shares: [workspace, caller], atMs: monotonicMs() };
        plan();
        return;
      }
      const turn = Promise.withResolvers<void>();
      caller.begins.push(turn.resolve);
      caller.waiting += 1;
      workspace.waiting += 1;
      waiting += 1;
      await turn.promise;
    },
  };
}

interface Share {
  /** Time of its requests from their beginning to their first wait, while others waited. */
  usedMs: number;
  /** Number of its requests that wait. */
  waiting: number;
}

interface Workspace extends Share {
  callers: Map<string, Caller>;
}

interface Caller extends Share {
  begins: (() => void)[];
}

/** The next turn does not wait longer than this, and one request more, for beginnings. */
const turnMs = 2;
const maxInTurn = 16;
/** Requests too short for the clock take turns too. */
const minMs = 0.01;

function leastUsed<T extends Share>(shares: Iterable<T>): T | null {
  let least: T | null = null;
  for (const share of shares) if (share.waiting > 0 && (least === null || share.usedMs < least.usedMs)) least = share;
  return least;
}

function raise(share: Share, others: Iterable<Share>): void {
  if (share.waiting === 0) share.usedMs = Math.max(share.usedMs, leastUsed(others)?.usedMs ?? 0);
}
