// `ropewalk cluster list`: lists the clusters of the workspace, newest first.
import { Command } from 'commander';

import type { Cluster } from '../../../sdk/client.ts';
import { parseLimit } from '../../arguments.ts';
import { formatClusters } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

interface ListFlags extends ConnectionFlags, FormatFlag {
  limit: number;
  jobs?: boolean;
}

export function listClustersCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list')
    .description('List Dask clusters, newest first. Times are local.')
    .option('--limit <n>', 'how many', parseLimit, 10)
    .option('--jobs', 'also the clusters of batch jobs');
  return withFormat(withConnection(command)).action(async (flags: ListFlags) => {
    const { output } = context;
    const clusters = await newest(context, flags);
    if (flags.format === 'json') output.json(clusters);
    else if (clusters.length === 0) output.err('There are no clusters yet. Start one: ropewalk cluster create --wait');
    else output.out(formatClusters(clusters));
    finish(exitCodes.ok);
  });
}

async function newest(context: CliContext, flags: ListFlags): Promise<Cluster[]> {
  const client = await connect(context, flags);
  const clusters: Cluster[] = [];
  for await (const cluster of client.clusters.list({
    limit: Math.min(flags.jobs === true ? flags.limit : 100, 1_000),
  })) {
    if (cluster.job !== null && flags.jobs !== true) continue;
    clusters.push(cluster);
    if (clusters.length === flags.limit) break;
  }
  return clusters;
}
