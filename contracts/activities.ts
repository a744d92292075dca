// The interfaces of the activities that workflows call; implemented in activities/.
import type { DiskSizes, Lifetime, RunningCharge } from '../domain/cost/interval.ts';
import type { LaunchOutcome } from '../domain/cluster/apply.ts';
import type { LaunchPlacement } from '../domain/cluster/capacity/machine-settings.ts';
import type { SlotOrder } from '../domain/cluster/plan.ts';
import type { ClusterSettings } from '../domain/cluster/state.ts';
import type { HeardReport, ProviderSightings } from '../domain/cluster/instance/suspicion.ts';
import type { Usage } from '../domain/cluster/usage-note.ts';
import type { JobSettings, TaskRecord } from '../domain/job/state.ts';
import type { Owner } from '../domain/owner.ts';
import type { Sighting, SweepObservation } from '../domain/sweep/state.ts';
import type { JobView } from './job.ts';
import type { ReconcileInput } from './reconcile.ts';
import type { StuckWorkflowsInput, StuckWorkflowsReport } from './stuck-workflows.ts';

export interface LoadedJob {
  settings: JobSettings;
  bundleRef: string;
  createdAtMs: number;
}

export interface SpecActivities {
  loadJob(input: { specRef: string }): Promise<LoadedJob>;
  loadCluster(input: { specRef: string }): Promise<ClusterSettings>;
}

export interface TaskPageActivities {
  archiveTaskPage(input: { workspace: string; job: number; page: number; records: TaskRecord[] }): Promise<void>;
}

/** A job passes its view; the activity queries a cluster's workflow for its view, which must be the workflow that writes. */
export type ViewWrite = ({ kind: 'job'; view: JobView } | { kind: 'cluster' }) & {
  number: number;
  workspace: string;
  version: number;
  /** Set for the final view. `sealed`: vault keys that are no longer needed; `retriable`: a vault key to keep for `retriableForMs`. */
  end: { release: boolean; sealed: string[]; retriable?: string } | null;
};

export interface RecordActivities {
  /** Writes a view to the row of its job or cluster. A version older than the row's changes nothing. */
  writeView(input: ViewWrite): Promise<void>;
  /** Lowers the quota reservation of a cluster to its usage. */
  noteUsage(usage: Usage): Promise<void>;
  /** Returns when the API last heard these agents, and how long it has been listening. */
  readHeard(input: { cluster: number; instances: string[] }): Promise<HeardReport>;
}

/** An open row whose workflow is missing. */
export interface MissingRecord {
  kind: 'job' | 'cluster';
  number: number;
  workspace: string;
  specRef: string;
}

export interface RecordComparison {
  /** Why nothing was compared; null after a comparison. */
  refusal: string | null;
  compared: number;
  finalize: (MissingRecord & {
    /** True when nothing else holds the name and quota of this number. */
    release: boolean;
    /** True when the job's cluster still runs and must be stopped. */
    stopCluster: boolean;
  })[];
  /** Jobs whose cluster is missing. */
  cancelJobs: MissingRecord[];
  refreshed: string[];
  waiting: string[];
  unknown: string[];
}

export interface ReconcileActivities {
  /**
   * Compares all open rows with their workflows. Except on a dry run, stores since when a workflow is missing, and writes the views of workflows
   * whose status differs from the row's.
   */
  compareRecords(input: ReconcileInput): Promise<RecordComparison>;
  /** Returns the provider of its instances; null when the specification no longer exists. */
  locate(input: { specRef: string }): Promise<{ provider: string; providerQueue: string } | null>;
  /** Writes the final view of a job or cluster whose workflow cannot, and deletes its sealed data. */
  finalizeRecord(input: MissingRecord & { release: boolean }): Promise<void>;
  /** Creates the rows of open workflows without a row, and reserves the numbers of all workflows. */
  adoptWorkflows(input: { dryRun: boolean }): Promise<{ adopted: string[]; unknown: string[] }>;
}

export interface StuckWorkflowActivities {
  resetStuckWorkflows(input: StuckWorkflowsInput): Promise<StuckWorkflowsReport>;
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

export interface RemainsInput {
  provider: string;
  owner: Owner;
  /** The disk sizes of this cluster's launches; absent without a choice of machines. */
  diskGib?: DiskSizes;
}

export interface InstanceActivities {
  launchInstances(input: LaunchInput): Promise<LaunchOutcome>;
  inspectInstances(input: InstancesInput): Promise<ProviderSightings>;
  /** Returns the charges of existing instances whose price changes. */
  readCharges(input: InstancesInput): Promise<{ charges: RunningCharge[] }>;
  /** Returns the times of the instances whose times the provider knows. */
  terminateInstances(input: InstancesInput): Promise<{ lifetimes: Lifetime[] }>;
  /** Terminates all instances that still carry the owner's tags: the last check before a cluster ends. */
  terminateRemains(input: RemainsInput): Promise<{ ids: string[]; lifetimes: Lifetime[] }>;
}

export type SweepListing = Pick<SweepObservation, 'instances' | 'resources'> & {
  /** Why resources could not be listed; absent when they were. */
  unlisted?: string;
};

export interface SweepListActivities {
  listInstances(input: { provider: string; deploymentId: string }): Promise<SweepListing>;
  deleteResources(input: { provider: string; owner: Owner; ids: string[] }): Promise<void>;
}

export interface SweepActivities {
  /** Never rejects because of one cluster: one that cannot be described is `unknown`. */
  describeClusters(input: { numbers: number[] }): Promise<Omit<SweepObservation, 'instances' | 'resources'>>;
  /** Deletes some long-expired sealed objects; the next call continues. Never rejects because of the object store. */
  removeExpiredSealed(): Promise<void>;
  readSightings(input: { memory: string }): Promise<{ sightings: Sighting[] }>;
  writeSightings(input: { memory: string; sightings: Sighting[] }): Promise<void>;
}

export interface ScheduleActivities {
  /** A run of a user's schedule is due. Idempotent. */
  noteScheduledRun(input: { schedule: string; run: string; atMs: number }): Promise<void>;
}
