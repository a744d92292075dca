// What the sweep reads, remembers and decides. Plain data: it crosses workflows, activities and the object store.
import type { CloudResource, CloudResourceKind } from '../cloud-resource.ts';
import type { Owner } from '../owner.ts';
import type { WorkflowPresence } from '../presence.ts';

export interface SweepSettings {
  deploymentId: string;
  graceMs: number;
  /** So long after it was made a cloud resource may still be wanted by the launch that made it. */
  launchMs: number;
}

export interface SweepObservation {
  /** The deployment that owns the namespace; null when that could not be read. */
  deploymentInTemporal: string | null;
  instances: { id: string; owner: Owner; launchedAtMs: number }[];
  /** Volumes only when they are attached to nothing. */
  resources: CloudResource[];
  /** Looked at after all the others were listed: what is listed was made for a workflow that exists. */
  clusters: { number: number; state: WorkflowPresence }[];
}

/** An instance or cloud resource that was seen unowned, and when first. Seen owned, or not at all, it is forgotten. */
export interface Sighting {
  id: string;
  firstSeenMs: number;
}

export interface Verdict {
  id: string;
  owner: Owner;
  /** Of a cloud resource; instances have none. */
  kind?: CloudResourceKind;
  verdict: 'owned' | 'foreign' | 'needed' | 'young' | 'unknown' | 'suspected' | 'orphan';
  /** Why, for people. */
  text: string;
  /** When it was first seen unowned; null when nothing speaks against it. */
  unownedSinceMs: number | null;
}

export interface SweepDecision {
  /** Why this run judged nothing at all. */
  refusal: string | null;
  verdicts: Verdict[];
  /** Instances. */
  orphans: { id: string; owner: Owner }[];
  /** Resources, the same. */
  leftovers: { id: string; owner: Owner }[];
  /** For the next run, replacing those of this one. */
  sightings: Sighting[];
}
