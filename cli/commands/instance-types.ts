// `ropewalk instance-types`: what can be launched, and what it costs.
import { Command } from 'commander';

import type { InstanceType } from '../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { show } from '../people.ts';
import { formatTable } from '../table.ts';
import { typeCells, typeColumns } from '../type-cells.ts';

interface Flags extends ConnectionFlags, FormatFlag {
  provider?: InstanceType['provider'];
  minCpu?: string;
  maxCpu?: string;
  minMemory?: string;
  maxMemory?: string;
  gpu?: boolean;
  arm?: boolean;
  region?: string;
  zone?: string;
  prefix?: string;
}

export function instanceTypesCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('instance-types')
    .description('List what can be launched, cheapest first. Prices are approximate.')
    .option('--provider <name>', 'of this provider, e.g. aws')
    .option('--min-cpu <n>', 'at least so many vCPUs')
    .option('--max-cpu <n>', 'at most so many vCPUs')
    .option('--min-memory <size>', 'at least so much memory, e.g. "16 GiB"')
    .option('--max-memory <size>', 'at most so much memory')
    .option('--gpu', 'with a GPU')
    .option('--arm', 'with an ARM processor')
    .option('--region <region>', 'in this region of the cloud')
    .option('--zone <zone>', 'in this zone')
    .option('--prefix <text>', 'whose name begins so, e.g. m6i.');
  return withFormat(withConnection(command)).action(async (flags: Flags) => {
    const client = await connect(context, flags);
    const { provider, minCpu, maxCpu, minMemory, maxMemory, gpu, arm, region, zone, prefix } = flags;
    const query = {
      ...{ provider, minCpu, maxCpu, minMemory, maxMemory, region, zone, prefix },
      ...(gpu === true ? { gpu: 'true' as const } : {}),
      ...(arm === true ? { arm: 'true' as const } : {}),
    };
    show(context, flags, await client.instanceTypes.list(query), formatTypes);
    finish(exitCodes.ok);
  });
}

const formatTypes = (types: readonly InstanceType[]): string =>
  types.length === 0 ? 'Nothing matches.' : formatTable(typeColumns, types.map(typeCells));
