// A cluster as people see it: over HTTP, in the archive, and in the Temporal UI.
import type { ClusterState } from '../../domain/cluster/state.ts';
import { clusterStatus } from '../../domain/cluster/view.ts';
import type { ClusterInput, ClusterView } from './messages.ts';

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
      address: instance.address,
      launchedAtMs: instance.launchedAtMs,
      registeredAtMs: instance.registeredAtMs,
      reason: instance.reason,
    })),
    failures: Object.entries(state.failures).map(([code, failure]) => ({ code, ...failure })),
    events: state.events,
    createdAtMs: state.createdAtMs,
    readyAtMs: state.readyAtMs,
    endedAtMs: state.endedAtMs,
    launched: state.launched,
    terminated: state.terminated,
  };
}

/** Markdown for the Temporal UI; it costs no history event. */
export function describeCluster(state: ClusterState): string {
  const reason = state.stopRequested ?? state.alarm;
  const rows = state.instances
    .slice(0, 50)
    .map((i) => `| ${i.slot} | ${i.generation} | ${i.id} | ${i.role} | ${i.state} | ${i.reason?.text ?? ''} |`);
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
