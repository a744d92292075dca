// What workflows ask of activities. The implementations are in activities/.
import type { LaunchNews } from '../domain/cluster/apply.ts';
import type { InspectionNews } from '../domain/cluster/inspections.ts';
import type { LaunchPlacement } from '../domain/cluster/machines.ts';
import type { SlotOrder } from '../domain/cluster/plan.ts';
import type { ClusterSettings } from '../domain/cluster/state.ts';
import type { JobSettings, TaskRecord } from '../domain/job/state.ts';
import type { Owner } from '../domain/owner.ts';
import type { Sighting, SweepObservation } from '../domain/sweep/state.ts';
import type { HolderSighting } from '../domain/workspace/reconcile.ts';
import type { Holder } from '../domain/workspace/state.ts';
import type { ClusterView } from './cluster.ts';
import type { HealInput, HealReport } from './heal.ts';
import type { JobView } from './job.ts';

export interface LoadedJob {
  settings: JobSettings;
  bundleRef: string;
  createdAtMs: number;
}

export interface ArchiveActivities {
  loadJob(input: { specRef: string }): Promise<LoadedJob>;
  archiveTaskPage(input: { workspace: string; job: number; page: number; records: TaskRecord[] }): Promise<void>;
  archiveJob(input: { view: JobView; bundleRef: string | null }): Promise<void>;
  loadCluster(input: { specRef: string }): Promise<ClusterSettings>;
  archiveCluster(input: { view: ClusterView; secretRefs: string[] }): Promise<void>;
}

export interface EndedActivities {
  /** Never rejects for one of them: what could not be described is `unknown`. */
  lookAtHolders(input: { holders: Pick<Holder, 'number' | 'kind'>[] }): Promise<{ sightings: HolderSighting[] }>;
  /** Where its instances are, or null when its specification is no more. */
  whereWas(input: { specRef: string }): Promise<{ provider: string; providerQueue: string } | null>;
  /** Writes the archive entries of these workflows that are missing, and deletes what lies sealed for the first of them. */
  archiveEnded(input: { workspace: string; holder: Holder; parts: ('job' | 'cluster')[] }): Promise<void>;
}

export interface HealActivities {
  healStandstills(input: HealInput): Promise<HealReport>;
}

export interface LaunchInput {
  provider: string;
  owner: Owner;
  clusterName: string;
  seq: number;
  slots: SlotOrder[];
  placement?: LaunchPlacement;
}

export interface InstancesInput {
  provider: string;
  owner: Owner;
  ids: string[];
}

export interface InstanceActivities {
  launchInstances(input: LaunchInput): Promise<LaunchNews>;
  inspectInstances(input: InstancesInput): Promise<InspectionNews>;
  terminateInstances(input: InstancesInput): Promise<void>;
  /** Ends whatever still carries the owner's tags: the last look before a cluster is called over. */
  terminateRemains(input: { provider: string; owner: Owner }): Promise<{ ids: string[] }>;
}

export type SweepListing = Pick<SweepObservation, 'instances' | 'belongings'> & {
  /** Why belongings could not be listed; absent when they were. */
  unlisted?: string;
};

export interface SweepListActivities {
  listInstances(input: { provider: string; deploymentId: string }): Promise<SweepListing>;
  removeBelongings(input: { provider: string; owner: Owner; ids: string[] }): Promise<void>;
}

export interface SweepActivities {
  /** Never rejects for one cluster: what could not be described is `unknown`. */
  describeClusters(input: { numbers: number[] }): Promise<Omit<SweepObservation, 'instances' | 'belongings'>>;
  /** Some of what has been expired for long, the next ones at the next call; never rejects for the store's sake. */
  removeExpiredSealed(): Promise<void>;
  readSightings(input: { memory: string }): Promise<{ sightings: Sighting[] }>;
  writeSightings(input: { memory: string; sightings: Sighting[] }): Promise<void>;
}
