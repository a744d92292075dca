// What the sweep looks at, remembers and decides. Plain data: it crosses workflows, activities and the object store.
import type { Owner } from '../owner.ts';

export interface SweepSettings {
  deploymentId: string;
  graceMs: number;
}

/** `unknown` is any error: the workflow was asked about and nothing certain was learned. */
export type ClusterPresence = 'open' | 'closed' | 'not found' | 'unknown';

export interface SweepObservation {
  /** Whose the namespace is, as its deployment workflow says; null when that could not be learned. */
  deploymentInTemporal: string | null;
  instances: { id: string; owner: Owner; launchedAtMs: number }[];
  /** Looked at after the instances were listed: an instance that is listed was launched by a workflow that exists. */
  clusters: { number: number; state: ClusterPresence }[];
}

/** An instance that was seen unowned, and when first. Seen owned, or not at all, it is forgotten. */
export interface Sighting {
  id: string;
  firstSeenMs: number;
}

export interface Verdict {
  id: string;
  owner: Owner;
  verdict: 'owned' | 'foreign' | 'young' | 'unknown' | 'suspected' | 'orphan';
  /** Why, for people. */
  text: string;
  /** When it was first seen unowned; null when nothing speaks against the instance. */
  unownedSinceMs: number | null;
}

export interface SweepDecision {
  /** Why this run judged nothing at all. */
  refusal: string | null;
  verdicts: Verdict[];
  orphans: { id: string; owner: Owner }[];
  /** For the next run, replacing those of this one. */
  sightings: Sighting[];
}
