// `ropewalk cluster list`: the clusters of the workspace, newest first.
import { Command, Option } from 'commander';

import type { Cluster } from '../../../sdk/client.ts';
import { formatClusters } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { filterOf, isFiltered, withFilters, type FilterFlags } from '../../filters.ts';

interface ListFlags extends ConnectionFlags, FormatFlag, FilterFlags {
  jobs?: boolean;
  kind?: 'dask' | 'job';
}

const statuses = ['waiting', 'pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error'] as const;

export function listClustersCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list')
    .description('List Dask clusters, newest first. Times are local.')
    .option('--jobs', 'also the clusters of batch jobs')
    .addOption(new Option('--kind <kind>', 'only Dask clusters, or only those of batch jobs').choices(['dask', 'job']));
  return withFormat(withConnection(withFilters(command, statuses))).action(async (flags: ListFlags) => {
    const { output } = context;
    const clusters = await newest(context, flags);
    if (flags.format === 'json') output.json(clusters);
    else if (clusters.length === 0 && isFiltered(flags)) output.err('No cluster matches.');
    else if (clusters.length === 0) output.err('There are no clusters yet. Start one: ropewalk cluster create --wait');
    else output.out(formatClusters(clusters));
    finish(exitCodes.ok);
  });
}

async function newest(context: CliContext, flags: ListFlags): Promise<Cluster[]> {
  const client = await connect(context, flags);
  const clusters: Cluster[] = [];
  const kind = flags.kind ?? (flags.jobs === true ? undefined : 'dask');
  const filter = { ...filterOf<Cluster['status']>(flags), ...(kind === undefined ? {} : { kind }) };
  for await (const cluster of client.clusters.list({ ...filter, limit: Math.min(flags.limit, 1_000) })) {
    clusters.push(cluster);
    if (clusters.length === flags.limit) break;
  }
  return clusters;
}
