// Describes a cluster in the Temporal UI.
import { endReason } from '../../domain/cluster/instance/transitions.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { clusterStatus } from '../../domain/cluster/status.ts';

/** Returns Markdown; setting it adds no history event. */
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
