// The sweep: looks for instances, and what else a cloud keeps for a cluster, that carry our tags and that no open workflow
// claims. A Temporal Schedule runs it, one per provider queue; an operator may run it too.
import type { Owner } from '../domain/owner.ts';
import type { Verdict } from '../domain/sweep/state.ts';

export const sweepType = 'sweep';

/** One schedule per provider queue, because only from there can the instances be listed and ended. */
export const sweepScheduleId = (providerQueue: string): string => `sweep/${providerQueue}`;

/** What operators start by hand: at most one of them at a time. */
export const sweepNowId = (providerQueue: string): string => `sweep/${providerQueue}/now`;

/** For a dry run, which changes nothing. */
export const sweepDryRunId = (providerQueue: string): string => `sweep/${providerQueue}/dry-run`;

export interface SweepInput {
  deploymentId: string;
  provider: string;
  providerQueue: string;
  graceMs: number;
  /** Judge, but end nothing and remember nothing. */
  dryRun: boolean;
}

export interface SweepReport {
  /** Why nothing was judged; null when all was well. */
  refusal: string | null;
  dryRun: boolean;
  graceMs: number;
  verdicts: Verdict[];
  /** Instances that are certainly gone now. */
  terminated: string[];
  /** Resources that are, too. */
  removed: string[];
  /** Why resources could not be listed; absent when they were. */
  unlisted?: string;
  /** Those whose end did not succeed: the next run tries again. */
  failed: { owner: Owner; ids: string[]; text: string }[];
}
