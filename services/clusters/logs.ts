// The output of a cluster's processes and agents, line by line.
import type { LogLine } from '../../schema/jobs.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { streamLines } from '../log-lines.ts';

export interface ClusterLogsInput {
  number: number;
  instance?: string | undefined;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has disconnected. */
  signal: AbortSignal;
}

/** Rejects before the first line for an invalid scope or number. */
export async function readClusterLogs(
  { deps, actor }: Context,
  { number, instance, follow, since, signal }: ClusterLogsInput,
): Promise<AsyncIterable<LogLine>> {
  requireScope(actor, 'read');
  const { view, record } = await deps.views.cluster(actor.workspace, number);
  requireCreator(actor, 'Cluster', record, 'may read its logs');
  const hasEnded = () => deps.views.cluster(actor.workspace, number).then((read) => read.view.endedAtMs !== null);
  return streamLines(deps, {
    provider: view.provider,
    region: view.region ?? undefined,
    owner: { workspace: view.workspace, cluster: number },
    follow,
    since,
    signal,
    hasEnded,
    ...(instance === undefined ? {} : { instance }),
  });
}
