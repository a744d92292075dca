// Carries out a cluster's decisions by provider calls and signals, and applies the outcomes to its state. `carryOut` never rejects: failures become
// input of the next plan.
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  log,
  proxyActivities,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type { InstanceActivities, RemainsInput } from '../../contracts/activities.ts';
import { applyLaunch, applyTerminated } from '../../domain/cluster/apply.ts';
import { applyHeard, applyInspection } from '../../domain/cluster/instance/inspect.ts';
import { applyCharges } from '../../domain/cluster/running-prices.ts';
import { recordChanges } from '../../domain/cluster/changes.ts';
import { forgetHistory } from '../../domain/cluster/history.ts';
import type { LaunchOutcome } from '../../domain/cluster/apply.ts';
import type { Decision } from '../../domain/cluster/plan.ts';
import type { ClusterSettings, ClusterState } from '../../domain/cluster/state.ts';
import type { HeardReport } from '../../domain/cluster/instance/suspicion.ts';
import { clusterStatus } from '../../domain/cluster/status.ts';
import type { RunningCharge } from '../../domain/cost/interval.ts';
import { addUnknown, forgetWritten } from '../../domain/cost/ledger.ts';
import { assertNever } from '../../domain/errors.ts';
import { nextVersion } from '../../domain/projection.ts';
import { plural } from '../../domain/units.ts';
import { bounded, control } from '../activities.ts';
import { notify } from '../notify.ts';
import { jobMessages, jobWorkflowId } from '../../contracts/job.ts';
import type { CancelSignal, InstanceLostSignal } from '../../contracts/job.ts';
import { statusKey } from '../../contracts/search-attributes.ts';
import type { ClusterInput } from '../../contracts/cluster.ts';

export async function carryOut(state: ClusterState, input: ClusterInput, decision: Decision): Promise<void> {
  switch (decision.kind) {
    case 'launch':
      return launch(state, input, decision);
    case 'terminate': {
      const { lifetimes } = await instances(state).terminateInstances.executeWithOptions(
        { summary: `terminate ${plural(decision.ids.length, 'instance')}: ${decision.why}`.slice(0, 200) },
        [{ ...target(state, input), ids: decision.ids }],
      );
      return applyTerminated(state, decision.ids, Date.now(), lifetimes);
    }
    case 'drain':
      // The head instance's agent receives drains in its orders.
      return;
    case 'inspect':
      return inspect(state, input, decision.ids);
    case 'hear':
      return applyHeard(state, (await readHeard(state, decision.ids)).heard);
    case 'readCharges':
      return applyCharges(state, await readCharges(state, input, decision.ids), Date.now());
    case 'notifyJob': {
      const signal: InstanceLostSignal = { instances: decision.lost };
      return notifyJob(state, jobMessages.instanceLost, signal);
    }
    case 'endJob': {
      const text = `its cluster ended: ${decision.text}`;
      const signal: CancelSignal = { code: decision.code, text };
      return notifyJob(state, jobMessages.cancel, signal);
    }
    case 'giveUp':
      return;
    default:
      return assertNever(decision);
  }
}

/** A standalone cluster has a specification; the cluster of a job gets its settings from the job. */
export async function loadSettings(input: ClusterInput): Promise<ClusterSettings> {
  const specRef = input.specRef ?? '';
  const settings = await control.loadCluster.executeWithOptions({ summary: 'read the cluster specification' }, [
    { specRef },
  ]);
  return { ...settings, name: input.name };
}

/**
 * Terminates every instance that still carries the cluster's tags, then writes the final view until the database accepts it. That order releases
 * quota only after the instances have ended.
 */
export async function finish(state: ClusterState, input: ClusterInput): Promise<void> {
  const owner = target(state, input);
  const remains = await instances(state).terminateRemains.executeWithOptions(
    { summary: 'terminate whatever still carries the tags of this cluster' },
    [{ ...owner, ...disksOf(state) }],
  );
  if (remains.ids.length > 0) log.warn('instances that no launch had returned were terminated', { ids: remains.ids });
  state.terminated += remains.ids.length;
  addUnknown(state, remains.lifetimes, Date.now());
  state.endedAtMs = Date.now();
  recordChanges(state, state.endedAtMs);
  tagStatus(state);
  const { number, workspace } = state;
  await control.writeView.executeWithOptions(
    { summary: 'write the final view to the database, release name and quota' },
    [
      {
        ...{ kind: 'cluster', number, workspace, version: nextVersion(state.projection) },
        end: { release: true, sealed: sealedRefs(state) },
      },
    ],
  );
}

function disksOf({ settings: { machines } }: ClusterState): Pick<RemainsInput, 'diskGib'> {
  if (machines === undefined) return {};
  return { diskGib: { head: machines.headDiskGib ?? machines.diskGib, worker: machines.diskGib } };
}

/** The activity queries this workflow for its view, because the view of a thousand instances is too long for the history. */
export async function writeView(state: ClusterState, version: number): Promise<void> {
  const { number, workspace } = state;
  const summary = `write view ${version} to the database: ${clusterStatus(state)}`;
  const costs = [...state.costs];
  const history = [...state.history.held];
  await bounded.writeView.executeWithOptions({ summary }, [{ kind: 'cluster', number, workspace, version, end: null }]);
  forgetWritten(state, costs);
  forgetHistory(state.history, history);
}

/** Vault keys of the secrets that only this cluster uses. */
function sealedRefs(state: ClusterState): string[] {
  const { dask } = state.settings;
  return dask === null ? [] : [dask.bundleRef, dask.caRef];
}

export function tagStatus(state: ClusterState): void {
  const status = clusterStatus(state);
  if (workflowInfo().typedSearchAttributes.get(statusKey) !== status) {
    upsertSearchAttributes([{ key: statusKey, value: status }]);
  }
}

async function launch(
  state: ClusterState,
  input: ClusterInput,
  decision: Extract<Decision, { kind: 'launch' }>,
): Promise<void> {
  let outcome: LaunchOutcome;
  try {
    outcome = await limited(state).launchInstances.executeWithOptions(
      { summary: `launch ${plural(decision.slots.length, 'instance')} (launch ${decision.seq})` },
      [
        {
          ...target(state, input),
          clusterName: state.settings.name,
          seq: decision.seq,
          slots: decision.slots,
          ...placementOf(decision),
        },
      ],
    );
  } catch (error) {
    // The outcome is unknown. The launch is repeated, by the next run if this one is about to continue as new.
    if (isOutOfTime(error)) return;
    outcome = { launched: [], failures: [refused(state, decision, error)] };
  }
  applyLaunch(state, decision.seq, outcome, Date.now());
}

const placementOf = ({ placement }: Extract<Decision, { kind: 'launch' }>) =>
  placement === undefined ? {} : { placement };

/** A launch is rejected only when its request is wrong; all other failures are retried under the same token. */
function refused(
  state: ClusterState,
  decision: Extract<Decision, { kind: 'launch' }>,
  error: unknown,
): LaunchOutcome['failures'][number] {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  const { provider } = state.settings;
  return {
    offer: provider,
    zone: '',
    market: 'on-demand',
    code: 'LAUNCH_REFUSED',
    scope: 'request',
    text,
    count: decision.slots.length,
  };
}

async function inspect(state: ClusterState, input: ClusterInput, ids: string[]): Promise<void> {
  const [sightings, heard] = await Promise.all([
    instances(state).inspectInstances.executeWithOptions({ summary: `inspect ${plural(ids.length, 'instance')}` }, [
      { ...target(state, input), ids },
    ]),
    readHeard(state, ids),
  ]);
  applyInspection(state, { ...sightings, ...heard }, Date.now());
}

/** While the database is unavailable, an instance's silence proves nothing. */
async function readHeard({ number }: ClusterState, ids: string[]): Promise<HeardReport> {
  const summary = `read when ${plural(ids.length, 'instance')} spoke last`;
  try {
    return await bounded.readHeard.executeWithOptions({ summary }, [{ cluster: number, instances: ids }]);
  } catch (error) {
    log.warn('the last signs of life could not be read', { error: String(error) });
    return { heard: [], listeningMs: 0 };
  }
}

/** Without an answer the newest known prices count until the next read. */
async function readCharges(state: ClusterState, input: ClusterInput, ids: string[]): Promise<RunningCharge[]> {
  const summary = `read the prices of ${plural(ids.length, 'instance')}`;
  try {
    const { charges } = await limited(state).readCharges.executeWithOptions({ summary }, [
      { ...target(state, input), ids },
    ]);
    return charges;
  } catch (error) {
    log.warn('the prices of instances could not be read', { error: String(error) });
    return [];
  }
}

async function notifyJob(state: ClusterState, signal: string, body: object): Promise<void> {
  if (state.settings.job !== null) await notify(jobWorkflowId(state.settings.job), signal, body);
}

function target(
  state: ClusterState,
  input: ClusterInput,
): {
  provider: string;
  owner: { deploymentId: string; workspace: string; cluster: number };
} {
  const owner = { deploymentId: input.deploymentId, workspace: state.workspace, cluster: state.number };
  return { provider: state.settings.provider, owner };
}

const isOutOfTime = (error: unknown): boolean =>
  error instanceof ActivityFailure && (error.retryState === 'TIMEOUT' || error.cause instanceof TimeoutFailure);

/** Provider calls run on the task queue of the provider: that of a host, on the host of the processes. */
const instances = (state: ClusterState) => proxyActivities<InstanceActivities>(optionsFor(state));

/** A cloud may leave the outcome of a launch unknown for hours; without this timeout the run could not continue as new. */
const limited = (state: ClusterState) =>
  proxyActivities<InstanceActivities>({ ...optionsFor(state), scheduleToCloseTimeout: '15m' });

function optionsFor(state: ClusterState): ActivityOptions {
  return {
    taskQueue: state.settings.providerQueue,
    startToCloseTimeout: '5m',
    heartbeatTimeout: '5s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
  };
}
