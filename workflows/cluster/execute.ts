// How a cluster's decisions become provider calls and signals, and what is learned from them. `carryOut` never rejects:
// whatever goes wrong becomes news for the next plan.
import {
  ActivityCancellationType,
  log,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type { InstanceActivities } from '../../contracts/activities.ts';
import { applyInspection, applyLaunch, applyTerminated } from '../../domain/cluster/apply.ts';
import type { LaunchNews } from '../../domain/cluster/apply.ts';
import type { Footprint } from '../../domain/cluster/footprint.ts';
import type { Decision } from '../../domain/cluster/plan.ts';
import type { ClusterSettings, ClusterState } from '../../domain/cluster/state.ts';
import { clusterStatus } from '../../domain/cluster/view.ts';
import { assertNever } from '../../domain/errors.ts';
import { control } from '../control-activities.ts';
import { tell } from '../job/execute.ts';
import { jobMessages, jobWorkflowId } from '../../contracts/job.ts';
import type { CancelSignal, InstanceLostSignal } from '../../contracts/job.ts';
import { statusKey } from '../../contracts/search-attributes.ts';
import { workspaceMessages, workspaceWorkflowId } from '../workspace/messages.ts';
import type { ReleasedSignal } from '../workspace/messages.ts';
import type { ClusterInput } from '../../contracts/cluster.ts';
import { viewCluster } from './view.ts';

export async function carryOut(state: ClusterState, input: ClusterInput, decision: Decision): Promise<void> {
  switch (decision.kind) {
    case 'launch':
      return launch(state, input, decision);
    case 'terminate':
      await instances(state).terminateInstances.executeWithOptions(
        { summary: `terminate ${decision.ids.length}: ${decision.why}`.slice(0, 200) },
        [{ ...target(state, input), ids: decision.ids }],
      );
      return applyTerminated(state, decision.ids, Date.now());
    case 'drain':
      // The head instance's agent hears of it through its orders.
      return;
    case 'inspect':
      return inspect(state, input, decision.ids);
    case 'tellJob': {
      const signal: InstanceLostSignal = { instances: decision.lost };
      return tellJob(state, jobMessages.instanceLost, signal);
    }
    case 'endJob': {
      const text = `its cluster ended: ${decision.text}`;
      const signal: CancelSignal = { code: decision.code, text };
      return tellJob(state, jobMessages.cancel, signal);
    }
    case 'giveUp':
      return;
    default:
      return assertNever(decision);
  }
}

/** A cluster of its own is described by its specification; a job describes its own. */
export async function loadSettings(input: ClusterInput): Promise<ClusterSettings> {
  const specRef = input.specRef ?? '';
  const settings = await control.loadCluster.executeWithOptions({ summary: 'read the cluster specification' }, [
    { specRef },
  ]);
  return { ...settings, name: input.name };
}

/** A last look by tag, then the archive, then the reservation: only what is really gone is released. */
export async function finish(state: ClusterState, input: ClusterInput): Promise<void> {
  const owner = target(state, input);
  const remains = await instances(state).terminateRemains.executeWithOptions(
    { summary: 'end whatever still carries the tags of this cluster' },
    [owner],
  );
  if (remains.ids.length > 0)
    log.warn('instances that no launch had answered for were terminated', { ids: remains.ids });
  state.terminated += remains.ids.length;
  state.endedAtMs = Date.now();
  tagStatus(state);
  await control.archiveCluster.executeWithOptions({ summary: 'archive the final view' }, [
    { view: viewCluster(state, input), secretRefs: secretRefs(state) },
  ]);
  const released: ReleasedSignal = { number: state.number };
  await tell(workspaceWorkflowId(state.workspace), workspaceMessages.released, released);
}

/** Its workspace gives back what it takes no more. */
export async function tellFootprint({ workspace }: ClusterState, footprint: Footprint): Promise<void> {
  await tell(workspaceWorkflowId(workspace), workspaceMessages.footprint, footprint);
}

/** What lies sealed for this cluster, of no use to anybody once it is over. */
function secretRefs(state: ClusterState): string[] {
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
  let news: LaunchNews;
  try {
    news = await instances(state).launchInstances.executeWithOptions(
      { summary: `launch ${decision.slots.length} (sequence ${decision.seq})` },
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
    news = { launched: [], failures: [refused(state, decision, error)] };
  }
  applyLaunch(state, decision.seq, news, Date.now());
}

const placementOf = ({ placement }: Extract<Decision, { kind: 'launch' }>) =>
  placement === undefined ? {} : { placement };

/** The only launches that reject are those whose request is wrong; the rest are retried under the same token. */
function refused(
  state: ClusterState,
  decision: Extract<Decision, { kind: 'launch' }>,
  error: unknown,
): LaunchNews['failures'][number] {
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
  const news = await instances(state).inspectInstances.executeWithOptions({ summary: `look at ${ids.length} silent` }, [
    { ...target(state, input), ids },
  ]);
  applyInspection(state, news, Date.now());
}

async function tellJob(state: ClusterState, signal: string, body: object): Promise<void> {
  if (state.settings.job !== null) await tell(jobWorkflowId(state.settings.job), signal, body);
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

/** Provider calls run where the provider can act: for the local one, on the host that holds the processes. */
function instances(state: ClusterState): ReturnType<typeof proxyActivities<InstanceActivities>> {
  return proxyActivities<InstanceActivities>({
    taskQueue: state.settings.providerQueue,
    startToCloseTimeout: '5m',
    heartbeatTimeout: '5s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
  });
}
