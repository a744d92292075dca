// What the workspace does about reservations whose workflows were ended from outside: a terminated workflow says goodbye to
// nobody. Only "closed" and "not found", twice and a while apart, are evidence; anything else leaves everything as it is.
import { lookAgainMs, lookEveryMs, youngHolderMs } from '../limits.ts';
import type { ClusterPresence } from '../sweep/state.ts';
import type { Holder, WorkspaceState } from './state.ts';

/** What became of one number's workflows; `job` is null for a cluster of its own. */
export interface HolderSighting {
  number: number;
  job: ClusterPresence | null;
  cluster: ClusterPresence;
}

export interface LookVerdicts {
  /** Nothing of it runs any more: what it left behind is ended, archived and released. */
  gone: Holder[];
  /** Its job is gone, its cluster still there. */
  stopCluster: Holder[];
  /** Its cluster is gone, so its job waits in vain. */
  endJob: Holder[];
}

/** When to look at the workflows of this workspace's reservations, or null while there are none. */
export function nextLookMs(state: WorkspaceState): number | null {
  const running = state.holders.filter((holder) => holder.state === 'running');
  if (running.length === 0) return null;
  if (state.lookWanted === true) return 0;
  const lookedAtMs = state.lookedAtMs ?? 0;
  // What does not change in spite of what was done about it is not looked at that often for ever.
  const hasNews = running.some(({ seen }) => seen !== undefined && lookedAtMs < seen.atMs + lookEveryMs);
  const sinceMs = running.reduce((oldest, holder) => Math.min(oldest, holder.reservedAtMs), Infinity);
  return Math.max(lookedAtMs, sinceMs) + (hasNews ? lookAgainMs : lookEveryMs);
}

/** Begins a look: the reservations old enough that their workflows must be there. */
export function beginLook(state: WorkspaceState, nowMs: number): Holder[] {
  state.lookedAtMs = nowMs;
  state.lookWanted = false;
  return state.holders.filter((holder) => holder.state === 'running' && nowMs >= holder.reservedAtMs + youngHolderMs);
}

/** Somebody thinks that there is something to see. */
export function lookSoon(state: WorkspaceState): void {
  state.lookWanted = true;
}

/** What was seen, and what follows from it. The first sight of anything only begins the wait for the second. */
export function judgeLook(state: WorkspaceState, sightings: HolderSighting[]): LookVerdicts {
  const nowMs = state.lookedAtMs ?? 0;
  const verdicts: LookVerdicts = { gone: [], stopCluster: [], endJob: [] };
  for (const sighting of sightings) {
    const holder = state.holders.find((each) => each.number === sighting.number);
    if (holder === undefined || sighting.job === 'unknown' || sighting.cluster === 'unknown') continue;
    const what = whatIsGone(sighting);
    if (what === null) delete holder.seen;
    else if (holder.seen?.what !== what) holder.seen = { what, atMs: nowMs };
    else if (nowMs >= holder.seen.atMs + lookAgainMs) {
      if (what === 'both') verdicts.gone.push(holder);
      else if (what === 'job') verdicts.stopCluster.push(holder);
      else verdicts.endJob.push(holder);
    }
  }
  return verdicts;
}

function whatIsGone({ job, cluster }: HolderSighting): 'both' | 'job' | 'cluster' | null {
  const isClusterOver = cluster === 'closed' || cluster === 'not found';
  if (job === null) return isClusterOver ? 'both' : null;
  if (job === 'closed' || job === 'not found') return isClusterOver ? 'both' : 'job';
  // A job that has just begun has not started its cluster yet.
  return cluster === 'closed' ? 'cluster' : null;
}
