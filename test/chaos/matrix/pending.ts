// The pending work of a life that did not end, in Temporal's terms, for a diagnosis.
import { tagKeys } from '../../../providers/aws/settings.ts';
import { clusterWorkflowId } from '../../../contracts/cluster.ts';
import { jobWorkflowId } from '../../../contracts/job.ts';
import { stuckAttempts } from '../../../domain/stuck/limits.ts';
import type { Bed } from './bed.ts';
import { isOfACluster } from './life.ts';
import type { Life } from './life.ts';
import { findStuck } from './upkeep.ts';

export async function pendingOf(bed: Bed, { scenario, key }: Life): Promise<string> {
  if (!isOfACluster(scenario) || key === '') return '';
  const lines: string[] = [];
  for (const id of [jobWorkflowId(Number(key)), clusterWorkflowId(Number(key))]) {
    const handle = bed.temporal.workflow.getHandle(id);
    const found = await handle.describe().catch(() => null);
    if (found === null) continue;
    const { raw, status } = found;
    const attempt = raw.pendingWorkflowTask?.attempt ?? null;
    lines.push(`  ${id}: ${status.name}, workflow task ${attempt ?? '-'}`);
    if (attempt !== null && attempt >= stuckAttempts) lines.push(...(await endOfHistory(bed, id)));
    for (const { activityType, attempt, state, lastFailure } of raw.pendingActivities ?? []) {
      lines.push(`    ${activityType?.name}, attempt ${attempt}, state ${state}: ${lastFailure?.message ?? ''}`);
    }
  }
  lines.push(...(await stuckOnes(bed)));
  const view = await bed.client.clusters.get(Number(key)).catch(() => null);
  const instances = view?.instances.map((each) => `${each.id} in slot ${each.slot} is ${each.state}`) ?? [];
  const living = (await bed.oracle.living(Number(key))).map((each) => JSON.stringify(each));
  const ledger = ((await bed.ground.cloud?.ledger()) ?? [])
    .filter(({ tags }) => tags[tagKeys.cluster] === key)
    .map(
      ({ atMs, event, id, why, tags }) => `${new Date(atMs).toISOString()} ${event} ${id} ${tags[tagKeys.role]} ${why}`,
    );
  const events = view?.events.slice(-6).map(({ code, text }) => `${code} ${text}`) ?? [];
  return [...lines, ...[...instances, ...living, ...ledger, ...events].map((text) => `    ${text}`)].join('\n');
}

const shownEvents = 25;

/** What precedes the workflow task that does not complete. */
async function endOfHistory(bed: Bed, id: string): Promise<string[]> {
  const { events } = await bed.temporal.workflow.getHandle(id).fetchHistory();
  return (events ?? []).slice(-shownEvents).map((event) => {
    const failed = event.workflowTaskFailedEventAttributes;
    const [name = ''] = Object.entries(event).flatMap(([key, value]) =>
      key.endsWith('Attributes') && value ? [key] : [],
    );
    const why = failed ? ` ${failed.cause} ${failed.failure?.message ?? ''}` : '';
    return `    ${String(event.eventId)} ${name.replace('EventAttributes', '')}${why}`;
  });
}

/** The check's own decisions, without a reset. */
async function stuckOnes(bed: Bed): Promise<string[]> {
  const id = `pending-${Date.now()}`;
  bed.files.writePlan(id, []);
  const found = await findStuck(bed, id, false).catch((error: unknown) => String(error));
  if (typeof found === 'string') return [`    the check for stuck workflows failed: ${found}`];
  return found.stuck.map(({ workflowId, outcome, text }) => `    ${workflowId} ${outcome}: ${text}`);
}
