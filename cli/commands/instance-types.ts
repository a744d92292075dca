// `ropewalk instance-types`: lists available instance types with their prices.
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
    .description('List instance types, cheapest first. Prices are approximate.')
    .option('--provider <name>', 'only of this provider, e.g. aws')
    .option('--min-cpu <n>', 'minimum number of vCPUs')
    .option('--max-cpu <n>', 'maximum number of vCPUs')
    .option('--min-memory <size>', 'minimum memory, e.g. "16 GiB"')
    .option('--max-memory <size>', 'maximum memory')
    .option('--gpu', 'only with a GPU')
    .option('--arm', 'only with an ARM processor')
    .option('--region <region>', 'only in this region of the cloud')
    .option('--zone <zone>', 'only in this zone')
    .option('--prefix <text>', 'only names with this prefix, e.g. m6i.');
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
  types.length === 0 ? 'No instance type matches.' : formatTable(typeColumns, types.map(typeCells));
