// The healing: looks for workflows that stand still by a fault that a reset mends. A Temporal Schedule runs it; `ropewalk
// doctor` does too.
import type { Healed } from '../domain/heal/state.ts';

export const healType = 'heal';
export const healScheduleId = 'heal';

/** What operators start by hand: at most one of them at a time. */
export const healNowId = 'heal/now';
export const healDryRunId = 'heal/dry-run';

export interface HealInput {
  deploymentId: string;
  /** Look, and change nothing. */
  dryRun: boolean;
}

export interface HealReport {
  /** Why nothing was looked at; null when all was well. */
  refusal: string | null;
  looked: number;
  /** What could not be looked at, or whose open workflows could not be learned. */
  unknown: string[];
  healed: Healed[];
}
