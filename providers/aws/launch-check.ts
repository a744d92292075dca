// Checks that EC2 would launch: sends the real request as a dry run, in every subnet, with the groups of a head instance. AWS
// checks permissions and parameters, launches nothing and bills nothing.
import { RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';

import type { InstanceRole } from '../../domain/cluster/state.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { AssumedRole } from './assume-role.ts';
import { createAwsClients, destroyClients } from './clients.ts';
import type { AwsClients } from './clients.ts';
import { codeOf, messageOf } from './sdk-errors.ts';
import type { AwsFile } from './settings-file.ts';
import { profileOf } from './settings.ts';
import type { AwsSettings, Subnet } from './settings.ts';
import { tagsOf } from './tags.ts';
import { machineOf, networkInterface } from './templates.ts';

/** The types of the dry runs: the usual one, and one with a GPU where an image for it is configured. */
const types = { usual: 'm6i.xlarge', gpu: 'g4dn.xlarge' } as const;
const diskGib = { usual: 30, gpu: 120 } as const;

/**
 * Describes the possible launches.
 *
 * `deploymentId` is part of the tags, which the control plane's policy requires. `role` is that of another account to try.
 *
 * @throws RopewalkError UNAVAILABLE naming the subnet, AWS's answer and the command that creates the missing resource.
 */
export async function tryLaunch(
  { node, apiCa, ...place }: AwsFile,
  { deploymentId, apiUrl }: { deploymentId: string; apiUrl: string },
  signal: AbortSignal,
  role: AssumedRole | null = null,
): Promise<string> {
  const settings: AwsSettings = { ...place, agent: { url: apiUrl, sha256: '0'.repeat(64), node, apiCa } };
  const clients = createAwsClients(settings.region, undefined, role);
  try {
    const kinds = settings.gpuImage === null ? (['usual'] as const) : (['usual', 'gpu'] as const);
    for (const kind of kinds) {
      const usual = [
        ...settings.subnets.map((subnet) => ({ subnet, role: 'head' as const })),
        ...(settings.workerSubnets ?? []).map((subnet) => ({ subnet, role: 'worker' as const })),
      ];
      for (const where of kind === 'usual' ? usual : usual.slice(0, 1)) {
        await tryIn(clients, { settings, deploymentId, apiUrl, kind, signal, workspace: 'doctor', ...where });
      }
    }
    for (const subnet of settings.subnets.slice(0, 1)) {
      for (const workspace of Object.keys(settings.workspaceProfiles)) {
        const one = { kind: 'usual', role: 'worker', subnet, workspace } as const;
        await tryIn(clients, { settings, deploymentId, apiUrl, signal, ...one });
      }
    }
    const names = kinds.map((kind) => types[kind]).join(' and ');
    return `EC2 would launch ${names} in ${settings.subnets.map(({ zone }) => zone).join(', ')}`;
  } finally {
    destroyClients(clients);
  }
}

interface Trial {
  settings: AwsSettings;
  deploymentId: string;
  apiUrl: string;
  kind: keyof typeof types;
  subnet: Subnet;
  role: InstanceRole;
  workspace: string;
  signal: AbortSignal;
}

async function tryIn(
  clients: AwsClients,
  { settings, deploymentId, apiUrl, kind, subnet, role, workspace, signal }: Trial,
): Promise<void> {
  const owner = { deploymentId, workspace, cluster: 0 };
  const placement = {
    ...{ types: [types[kind]], architecture: 'x86_64' as const, market: 'on-demand' as const },
    ...{ zones: [subnet.zone], diskGib: diskGib[kind] },
  };
  const tags = tagsOf(owner);
  try {
    const command = new RunInstancesCommand({
      ...(await machineOf(clients, settings, { apiUrl, launchToken: 'doctor', owner }, placement)),
      InstanceType: types[kind] satisfies _InstanceType,
      NetworkInterfaces: [{ ...networkInterface(settings, role), SubnetId: subnet.id }],
      TagSpecifications: (['instance', 'volume', 'network-interface'] as const).map((ResourceType) => ({
        ...{ ResourceType, Tags: tags },
      })),
      ...{ MinCount: 1, MaxCount: 1, DryRun: true },
    });
    await clients.launching.send(command, { abortSignal: signal });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'DryRunOperation') return;
    // A zone may lack this type; launches then choose another.
    if (code === 'Unsupported') return;
    // A new account has no GPU quota, and may need none. The quota check shows it.
    if (code === 'VcpuLimitExceeded' && kind === 'gpu') return;
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: `EC2 would launch no ${types[kind]} in ${subnet.zone} (${subnet.id}): ${code}: ${messageOf(error)}`,
        hint: hintOf(code, messageOf(error), settings, profileOf(settings, workspace)),
      },
      { cause: error },
    );
  }
}

function hintOf(code: string, message: string, { region }: AwsSettings, profile: string | null): string {
  const setup = `ropewalk setup aws --region ${region}`;
  if (/^(UnauthorizedOperation|AccessDenied|AccessDeniedException)$/.test(code)) {
    return `Attach the policy of the control plane to the role of these credentials: ${setup} --control-plane-role ROLE (docs/aws.md, "Permissions").`;
  }
  if (/instance profile/i.test(message))
    return `Create the instance profile ${profile ?? ''}: ${setup} (of a workspace: docs/aws.md, workspaceProfiles)`;
  if (/^Invalid(Parameter$|Subnet|Group|VpcID)/.test(code))
    return `Create what is missing, and write the settings: ${setup}`;
  if (code === 'VcpuLimitExceeded')
    return `Ask AWS for more: ropewalk setup aws --region ${region} --quotas --request 256`;
  if (/^InvalidAMI|^ParameterNotFound$/.test(code))
    return 'Correct gpuImage in the settings, name its public parameter, or set it to null, which refuses GPUs (docs/aws.md).';
  if (code === 'OptInRequired') return 'Enable the region for this account, in its AWS console.';
  return 'docs/aws.md says what the settings name.';
}
