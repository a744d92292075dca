// A cluster as people see it: over HTTP, in the archive, and in the Temporal UI.
import { capacityDeadlineMs, missingSlots, missingText } from '../../domain/cluster/capacity/wait.ts';
import { ordersOf } from '../../domain/cluster/orders.ts';
import { endReason } from '../../domain/cluster/instance/transitions.ts';
import { hasReleasedSlot } from '../../domain/cluster/slot/slots.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { stagesOf } from '../../domain/cluster/instance/stages.ts';
import { clusterStatus } from '../../domain/cluster/view.ts';
import { blankCluster } from '../../contracts/blank-views.ts';
import type { ClusterInput, ClusterView, DaskView, WaitingView } from '../../contracts/cluster.ts';

export function viewCluster(state: ClusterState, input: ClusterInput): ClusterView {
  return {
    number: state.number,
    workspace: state.workspace,
    name: state.settings.name,
    job: state.settings.job,
    user: input.user,
    status: clusterStatus(state),
    reason: state.stopRequested ?? state.alarm,
    target: state.target,
    provider: state.settings.provider,
    instances: state.instances.map((instance) => ({
      id: instance.id,
      role: instance.role,
      state: instance.state,
      slot: instance.slot,
      generation: instance.generation,
      address: instance.agent?.address ?? null,
      publicAddress: instance.agent?.publicAddress ?? null,
      hostname: instance.agent?.hostname ?? null,
      launchedAtMs: instance.launchedAtMs,
      registeredAtMs: instance.agent?.registeredAtMs ?? null,
      reason: endReason(instance),
      process: instance.agent?.process ?? null,
      stages: stagesOf(instance),
    })),
    failures: Object.entries(state.failures).map(([code, failure]) => ({ code, ...failure })),
    events: state.events,
    createdAtMs: state.createdAtMs,
    readyAtMs: state.readyAtMs,
    endedAtMs: state.endedAtMs,
    launched: state.launched,
    terminated: state.terminated,
    region: state.settings.machines?.region ?? null,
    waiting: viewWaiting(state),
    dask: viewDask(state),
    costs: state.costs,
  };
}

function viewWaiting(state: ClusterState): WaitingView | null {
  const { waiting, stopRequested } = state;
  if (waiting === null || stopRequested !== null) return null;
  const { sinceMs, nextTryMs } = waiting;
  const [missing, text] = [missingSlots(state), missingText(state)];
  return { sinceMs, nextTryMs, untilMs: capacityDeadlineMs(state), missing, text };
}

function viewDask(state: ClusterState): DaskView | null {
  const orders = ordersOf(state);
  const { dask, settings } = state;
  if (dask === null || settings.dask === null || orders === null) return null;
  const workers = state.instances.filter(
    (instance) => instance.role === 'worker' && !instance.agent?.drain && !hasReleasedSlot(instance),
  );
  const started = workers.filter(({ state: is, agent }) => is === 'ready' && agent?.process?.state === 'started');
  // A slot counts once: neither one beyond what is wanted, nor one that a worker has moved into since it was given up.
  const held = new Set(workers.flatMap(({ state: is, slot }) => (is === 'starting' || is === 'ready' ? [slot] : [])));
  const errored = Object.entries(state.slots).filter(
    ([key, { givenUp }]) => givenUp !== null && Number(key) > 0 && Number(key) < state.target && !held.has(Number(key)),
  );
  return {
    orders,
    report: dask.report,
    reportedAtMs: dask.reportedAtMs,
    idleSinceMs: dask.idleSinceMs,
    unresponsiveSinceMs: dask.unresponsive?.sinceMs ?? null,
    adaptive: dask.adaptive,
    workersWanted: state.target - 1,
    workersStarted: started.length,
    workersErrored: errored.length,
    privateToCreator: settings.dask.privateToCreator,
    noClientTimeoutMs: settings.dask.noClientTimeoutMs,
    caRef: settings.dask.caRef,
  };
}

/** Before the specification has been read, only what admission knew. */
export function pendingCluster({ number, workspace, name, user }: ClusterInput, createdAtMs: number): ClusterView {
  return blankCluster({
    ...{ number, workspace, name, user, job: null, target: 0, provider: '', region: null, dask: null },
    ...{ status: 'pending', reason: null, createdAtMs, endedAtMs: null },
  });
}

/** Markdown for the Temporal UI; it costs no history event. */
export function describeCluster(state: ClusterState): string {
  const reason = state.stopRequested ?? state.alarm;
  const rows = state.instances
    .slice(0, 50)
    .map(
      (i) =>
        `| ${i.slot} | ${i.generation} | ${i.id} | ${i.role} | ${i.state}${processOf(i)} | ${endReason(i)?.text ?? ''} |`,
    );
  const events = state.events
    .slice(-10)
    .map((event) => `- ${new Date(event.atMs).toISOString()} ${event.code}: ${event.text}`);
  return [
    `**${clusterStatus(state)}**${reason === null ? '' : `: ${reason.text}`} (target ${state.target})`,
    '',
    '| slot | generation | instance | role | state | reason |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    ...events,
  ].join('\n');
}

function processOf({ agent }: ClusterState['instances'][number]): string {
  if (agent?.drain) return ', draining';
  const process = agent?.process;
  return process ? `, ${process.name} ${process.state} (${process.stage})` : '';
}
