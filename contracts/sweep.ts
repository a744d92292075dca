// The sweep: finds instances and other cloud resources that carry our tags but that no open workflow claims. A Temporal Schedule runs it, one per
// provider queue; an operator may run it too.
import type { Owner } from '../domain/owner.ts';
import type { Verdict } from '../domain/sweep/state.ts';

export const sweepType = 'sweep';

/** One schedule per provider queue, because only there can the instances be listed and terminated. */
export const sweepScheduleId = (providerQueue: string): string => `sweep/${providerQueue}`;

/** Started by an operator; at most one runs at a time. */
export const sweepNowId = (providerQueue: string): string => `sweep/${providerQueue}/now`;

/** A dry run, which changes nothing. */
export const sweepDryRunId = (providerQueue: string): string => `sweep/${providerQueue}/dry-run`;

export interface SweepInput {
  deploymentId: string;
  provider: string;
  providerQueue: string;
  graceMs: number;
  /** Judge, but terminate nothing and store nothing. */
  dryRun: boolean;
}

export interface SweepReport {
  /** Why nothing was judged; null after a judgement. */
  refusal: string | null;
  dryRun: boolean;
  graceMs: number;
  verdicts: Verdict[];
  /** Instances that have certainly terminated. */
  terminated: string[];
  /** Cloud resources that were certainly deleted. */
  removed: string[];
  /** Why resources could not be listed; absent when they were. */
  unlisted?: string;
  /** Instances and resources whose termination or deletion failed; the next run tries again. */
  failed: { owner: Owner; ids: string[]; text: string }[];
}
