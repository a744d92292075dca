// The manifest of EC2. Its configuration is the file that ROPEWALK_AWS_SETTINGS names, which the API, every Temporal worker and
// the operator's commands read; the AWS SDK finds the credentials.
import { cloudQueue, ec2InstanceId } from '../../domain/cloud-names.ts';
import type {
  CloudAccount,
  ConfiguredProvider,
  Environment,
  LaunchingInput,
  PlacedProvider,
  ProviderCheck,
  ProviderManifest,
  ProviderPlace,
} from '../manifest.ts';
import { readSettings } from '../settings.ts';
import { agentCheck } from '../agent-check.ts';
import { nodeCheck } from '../node-check.ts';
import { apiUrlCheck, credentialsCheck, identityKeysCheck, readIdentityKeys, requireReachable } from './checks.ts';
import { awsFamilies } from './families.ts';
import { verifyIdentity } from './identity.ts';
import { mayPass } from './sdk-errors.ts';
import { readAwsRegions } from './settings-file.ts';
import type { AwsFile, AwsRegions } from './settings-file.ts';

const name = 'aws';
const settingsVariable = 'ROPEWALK_AWS_SETTINGS';

export const awsManifest: ProviderManifest = {
  name,
  title: 'AWS EC2',
  kind: 'cloud',
  settingsVariable,
  families: awsFamilies,
  isInstanceId: (id) => ec2InstanceId.test(id),
  mayPass,
  agentEnvironment: { ROPEWALK_CLOUD: name },
  configure: ({ env }) => {
    const path = env[settingsVariable] ?? '';
    return path === '' ? null : configured(readSettings(settingsVariable, path, readAwsRegions), env);
  },
  setup: async () => (await import('./setup/setup.ts')).awsSetup,
};

function configured({ regions }: AwsRegions, env: Environment): ConfiguredProvider {
  const [first, ...rest] = regions;
  return {
    deploymentId: first.deployment,
    places: [placeOf(first), ...rest.map(placeOf)],
    reader: async () => {
      const { createRegionReaders } = await import('./region-readers.ts');
      return createRegionReaders([first, ...rest]);
    },
    providers: async (launching) => {
      requireReachable(launching.apiUrl, env);
      return launchers(regions, launching);
    },
    terminators: async () => {
      const { createAwsTerminator } = await import('./from-settings.ts');
      return regions.map((file) => ({ place: placeOf(file), provider: createAwsTerminator(file) }));
    },
    identity: async () => {
      const keys = await readIdentityKeys(regions, env);
      return { verify: async (proof) => verifyIdentity(keys, proof) };
    },
    accounts: regions.flatMap(accountsOf),
    checks: [
      credentialsCheck(first.region),
      identityKeysCheck(regions, env),
      apiUrlCheck(env),
      agentCheck(name, env, first.apiCa),
      nodeCheck(name, settingsVariable, first.node),
      ...regions.map(subnetCheck),
      ...regions.map((file) => dryRunCheck(file, env)),
      ...regions.map(quotaCheck),
      ...regions.flatMap((file) => accountChecks(file, env)),
    ],
  };
}

const subnetCheck = (file: AwsFile): ProviderCheck => ({
  name: `aws subnets ${file.region}`,
  run: async (signal) => {
    const { checkSubnets } = await import('./subnet-check.ts');
    return checkSubnets(file, signal);
  },
});

const dryRunCheck = (file: AwsFile, env: Environment): ProviderCheck => ({
  name: `aws launch ${file.region}`,
  run: async (signal, deploymentId) => {
    const { tryLaunch } = await import('./launch-check.ts');
    return tryLaunch(file, { deploymentId, apiUrl: env['ROPEWALK_API_URL'] ?? '' }, signal);
  },
});

const quotaCheck = ({ region }: AwsFile): ProviderCheck => ({
  name: `aws quotas ${region}`,
  run: async (signal) => {
    const { describeQuotas } = await import('./quotas.ts');
    return describeQuotas(region, signal);
  },
});

/** Whether the role of each workspace's account can be assumed and may launch there. */
const accountChecks = (file: AwsFile, env: Environment): ProviderCheck[] =>
  Object.entries(file.workspaceAccounts).map(([workspace, { roleArn, externalId, ...network }]) => ({
    workspace,
    name: `aws launch ${file.region} of ${workspace}`,
    run: async (signal, deploymentId) => {
      const { tryLaunch } = await import('./launch-check.ts');
      const { checkSubnets } = await import('./subnet-check.ts');
      const there = { ...file, ...network, workspaceProfiles: {} };
      const what = { deploymentId, apiUrl: env['ROPEWALK_API_URL'] ?? '' };
      await checkSubnets(there, signal, { roleArn, externalId });
      return tryLaunch(there, what, signal, { roleArn, externalId });
    },
  }));

function accountsOf({ region, instanceProfile, workspaceAccounts, workspaceProfiles }: AwsFile): CloudAccount[] {
  const detail = (profile: string | null): string =>
    `${region}, instances have ${profile === null ? 'no instance profile' : `the instance profile ${profile}`}`;
  return [
    { workspace: null, account: 'account of the control plane', detail: detail(instanceProfile) },
    ...Object.entries(workspaceProfiles).map(([workspace, profile]) => ({
      ...{ workspace, account: 'account of the control plane', detail: detail(profile) },
    })),
    ...Object.entries(workspaceAccounts).map(([workspace, own]) => ({
      ...{ workspace, account: own.roleArn, detail: `${detail(own.instanceProfile)}, role taken with an external id` },
    })),
  ];
}

async function launchers(regions: readonly AwsFile[], launching: LaunchingInput): Promise<PlacedProvider[]> {
  const { createAwsProviderFrom } = await import('./from-settings.ts');
  return regions.map((file) => ({ place: placeOf(file), provider: createAwsProviderFrom(file, launching) }));
}

const placeOf = ({ region }: Pick<AwsFile, 'region'>): ProviderPlace => ({ region, queue: cloudQueue(name, region) });
