// Inputs, memory and decisions of the sweep. Plain data: it passes through workflows, activities and the object store.
import type { CloudResource, CloudResourceKind } from '../cloud-resource.ts';
import type { Owner } from '../owner.ts';
import type { WorkflowPresence } from '../presence.ts';

export interface SweepSettings {
  deploymentId: string;
  graceMs: number;
  /** A cloud resource may be needed by its launch for this long after its creation. */
  launchMs: number;
}

export interface SweepObservation {
  /** The deployment that owns the namespace; null when it could not be read. */
  deploymentInTemporal: string | null;
  instances: { id: string; owner: Owner; launchedAtMs: number }[];
  /** Includes only detached volumes. */
  resources: CloudResource[];
  /** Read after all the others were listed, so the workflow of each listed resource already exists. */
  clusters: { number: number; state: WorkflowPresence }[];
}

/** An instance or cloud resource that was seen unowned, and when first. It is forgotten when seen owned, or not seen. */
export interface Sighting {
  id: string;
  firstSeenMs: number;
}

export interface Verdict {
  id: string;
  owner: Owner;
  /** The kind of a cloud resource; absent for instances. */
  kind?: CloudResourceKind;
  verdict: 'owned' | 'foreign' | 'needed' | 'young' | 'unknown' | 'suspected' | 'orphan';
  /** The reason, in words. */
  text: string;
  /** When it was first seen unowned; null when it is not suspected. */
  unownedSinceMs: number | null;
}

export interface SweepDecision {
  /** Why this run judged nothing. */
  refusal: string | null;
  verdicts: Verdict[];
  /** Instances. */
  orphans: { id: string; owner: Owner }[];
  /** Cloud resources. */
  leftovers: { id: string; owner: Owner }[];
  /** The sightings for the next run; they replace the earlier ones. */
  sightings: Sighting[];
}
