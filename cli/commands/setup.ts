// `ropewalk setup aws` and `ropewalk setup gcp`: prepares a cloud account, removes the prepared resources, and shows quotas.
import { Command } from 'commander';

import { parseLimit } from '../arguments.ts';
import { askOnStderr } from '../ask.ts';
import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';
import { UsageError } from '../errors.ts';

interface SetupFlags extends FormatFlag {
  region?: string[];
  name: string;
  network?: string;
  subnet?: string[];
  clientRange?: string[];
  controlPlaneRole?: string;
  project?: string;
  bucket?: string;
  deployment?: string;
  settings?: string;
  plan?: true;
  remove?: true;
  quotas?: true;
  request?: number;
  yes?: true;
}

export function setupCommand({ env, home, output }: CliContext, finish: Finish): Command {
  const several = (value: string, before: string[] = []): string[] => [...before, ...value.split(',')];
  return withFormat(new Command('setup'))
    .description('Prepare a cloud account: network, firewall, roles, and the settings file. Shows a plan first.')
    .argument('<provider>', 'the cloud: aws or gcp')
    .option(
      '--region <region>',
      'a region; several with commas (default: those of the settings file, else one)',
      several,
    )
    .option('--name <name>', 'of what is created', 'ropewalk')
    .option('--network <id>', 'aws: use this VPC instead of creating one')
    .option('--subnet <id>', 'with --network: use these subnets only, one of each zone', several)
    .option(
      '--client-range <cidr>',
      'from where clients may reach schedulers (default for a new group: everywhere)',
      several,
    )
    .option('--control-plane-role <name>', 'aws: attach the policy of the control plane to this role')
    .option('--project <id>', 'gcp: the project (default: that of the settings file, else GOOGLE_CLOUD_PROJECT)')
    .option('--bucket <name>', 'gcp: a bucket for the object store')
    .option('--deployment <id>', "another deployment than the home's own")
    .option('--settings <path>', 'the settings file to write')
    .option('--plan', 'show what would be done; change nothing')
    .option('--remove', 'take away exactly what this command made')
    .option('--yes', 'do not ask')
    .option('--quotas', 'show the quotas of vCPUs, GPUs, addresses and disks, and change nothing else')
    .option('--request <vcpus>', 'with --quotas: ask for this many where the quota is lower', parseLimit)
    .action(async (provider: string, flags: SetupFlags) => {
      if (flags.request !== undefined && flags.quotas !== true) throw new UsageError('--request needs --quotas');
      // Loaded only here: no other command may depend on the providers' code.
      const { runQuotas, runSetup } = await import('../../ops/setup.ts');
      const { format, settings, region: regions = [] } = flags;
      const common = { env, home, provider, format, settings, regions, project: flags.project ?? null };
      if (flags.quotas === true) return finish(await runQuotas({ ...common, request: flags.request ?? null }, output));
      const options = {
        ...common,
        ...{
          name: flags.name,
          deployment: flags.deployment,
          network: flags.network ?? null,
          subnets: flags.subnet ?? [],
        },
        ...{ clientRanges: flags.clientRange ?? null, controlPlaneRole: flags.controlPlaneRole ?? null },
        bucket: flags.bucket ?? null,
        ...{ planOnly: flags.plan === true, remove: flags.remove === true, yes: flags.yes === true, ask: askOnStderr },
      };
      finish(await runSetup(options, output));
    });
}
