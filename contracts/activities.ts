// What workflows ask of activities. The implementations are in activities/.
import type { DiskSizes, Lifetime } from '../domain/cost/interval.ts';
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

/** A job hands its view over; the view of a cluster is asked of its workflow, which must be the one that writes. */
export type ViewWrite = ({ kind: 'job'; view: JobView } | { kind: 'cluster' }) & {
  number: number;
  workspace: string;
  version: number;
  /** Set for the final view. `sealed`: vault keys that nothing needs any more; `retriable`: one that is kept for `retriableForMs`. */
  end: { release: boolean; sealed: string[]; retriable?: string } | null;
};

export interface RecordActivities {
  /** Writes a view to the row of its job or cluster. An older version than the row has changes nothing. */
  writeView(input: ViewWrite): Promise<void>;
  /** Lowers the quota reservation of a cluster to what it uses. */
  noteUsage(usage: Usage): Promise<void>;
  /** When the API last heard these agents, and for how long it has been listening. */
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
  /** Why nothing was compared; null when all was well. */
  refusal: string | null;
  compared: number;
  finalize: (MissingRecord & {
    /** Nothing else holds name and quota of this number. */
    release: boolean;
    /** The job's cluster runs, and has to be stopped. */
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
   * Compares all open rows with their workflows. Except on a dry run, remembers since when a workflow is missing, and writes
   * views of workflows whose row has another status.
   */
  compareRecords(input: ReconcileInput): Promise<RecordComparison>;
  /** Where its instances are; null when the specification does not exist any more. */
  locate(input: { specRef: string }): Promise<{ provider: string; providerQueue: string } | null>;
  /** Writes the final view of a job or cluster whose workflow cannot, and deletes what is sealed for it. */
  finalizeRecord(input: MissingRecord & { release: boolean }): Promise<void>;
  /** Creates the rows of open workflows that have none, and reserves all numbers that workflows have. */
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
  /** As the launches of this cluster ask for; absent where there is nothing to choose. */
  diskGib?: DiskSizes;
}

export interface InstanceActivities {
  launchInstances(input: LaunchInput): Promise<LaunchOutcome>;
  inspectInstances(input: InstancesInput): Promise<ProviderSightings>;
  /** Of those whose times the provider knows. */
  terminateInstances(input: InstancesInput): Promise<{ lifetimes: Lifetime[] }>;
  /** Ends whatever still carries the owner's tags: the last look before a cluster is called over. */
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
  /** Never rejects for one cluster: what could not be described is `unknown`. */
  describeClusters(input: { numbers: number[] }): Promise<Omit<SweepObservation, 'instances' | 'resources'>>;
  /** Some of what has been expired for long, the next ones at the next call; never rejects for the store's sake. */
  removeExpiredSealed(): Promise<void>;
  readSightings(input: { memory: string }): Promise<{ sightings: Sighting[] }>;
  writeSightings(input: { memory: string; sightings: Sighting[] }): Promise<void>;
}

export interface ScheduleActivities {
  /** A run of a user's schedule is due. Twice is once. */
  noteScheduledRun(input: { schedule: string; run: string; atMs: number }): Promise<void>;
}
