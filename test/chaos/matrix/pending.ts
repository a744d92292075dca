// The pending work of a life that did not end, in Temporal's terms, for a diagnosis.
import { tagKeys } from '../../../providers/aws/settings.ts';
import { clusterWorkflowId } from '../../../contracts/cluster.ts';
import { jobWorkflowId } from '../../../contracts/job.ts';
import type { Bed } from './bed.ts';
import { isOfACluster } from './life.ts';
import type { Life } from './life.ts';

export async function pendingOf(bed: Bed, { scenario, key }: Life): Promise<string> {
  if (!isOfACluster(scenario) || key === '') return '';
  const lines: string[] = [];
  for (const id of [jobWorkflowId(Number(key)), clusterWorkflowId(Number(key))]) {
    const handle = bed.temporal.workflow.getHandle(id);
    const found = await handle.describe().catch(() => null);
    if (found === null) continue;
    const { raw, status } = found;
    lines.push(`  ${id}: ${status.name}, workflow task ${raw.pendingWorkflowTask?.attempt ?? '-'}`);
    for (const { activityType, attempt, state, lastFailure } of raw.pendingActivities ?? []) {
      lines.push(`    ${activityType?.name}, attempt ${attempt}, state ${state}: ${lastFailure?.message ?? ''}`);
    }
  }
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
