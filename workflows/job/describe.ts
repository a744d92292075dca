// Describes a job in the Temporal UI.
import type { JobState } from '../../domain/job/state.ts';
import { summarizeJob } from '../../domain/job/summary.ts';

/** Returns Markdown; setting it adds no history event. */
export function describeJob(state: JobState): string {
  const { status, reason, tasks, counters } = summarizeJob(state);
  const lines = [
    `**${status}**${reason === null ? '' : `: ${reason.text}`}`,
    '',
    '| total | pending | assigned | running | done | error | cancelled |',
    '|---|---|---|---|---|---|---|',
    `| ${tasks.total} | ${tasks.pending} | ${tasks.assigned} | ${tasks.running} | ${tasks.done} | ${tasks.error} | ${tasks.cancelled} |`,
    '',
    `Attempts lost with their instance: ${counters.lost}. Retried: ${counters.retried}. Stale results refused: ${counters.stale}. Repeated: ${counters.repeated}.`,
    `Instances heard of: ${Object.keys(state.instances).length}. Leases handed out: ${state.nextLease - 1}.`,
  ];
  return lines.join('\n');
}
