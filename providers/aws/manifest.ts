// EC2 as others see it. Configured by the file that ROPEWALK_AWS_SETTINGS names, which the API, every Temporal worker and the
// operator's commands read alike; credentials come from where the AWS SDK finds them.
import { cloudQueue, ec2InstanceId } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type {
  ConfiguredProvider,
  Environment,
  LaunchingInput,
  PlacedProvider,
  ProviderManifest,
  ProviderPlace,
} from '../manifest.ts';
import { apiUrlCheck, credentialsCheck, identityKeysCheck, readIdentityKeys, requireReachable } from './checks.ts';
import { awsFamilies } from './families.ts';
import { verifyIdentity } from './identity.ts';
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
  agentEnvironment: { ROPEWALK_CLOUD: name },
  configure: ({ env }) => {
    const path = env[settingsVariable] ?? '';
    return path === '' ? null : configured(readFile(path), env);
  },
};

function readFile(path: string): AwsRegions {
  try {
    return readAwsRegions(path);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = `Set ${settingsVariable} to the file that the API and the Temporal worker read.`;
    throw new RopewalkError({ code: 'VALIDATION', message, hint }, { cause });
  }
}

function configured({ regions }: AwsRegions, env: Environment): ConfiguredProvider {
  const [first, ...rest] = regions;
  return {
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
      return { verify: (proof) => verifyIdentity(keys, proof) };
    },
    checks: [credentialsCheck(first.region), identityKeysCheck(regions, env), apiUrlCheck(env)],
  };
}

async function launchers(regions: readonly AwsFile[], launching: LaunchingInput): Promise<PlacedProvider[]> {
  const { createAwsProviderFrom } = await import('./from-settings.ts');
  return regions.map((file) => ({ place: placeOf(file), provider: createAwsProviderFrom(file, launching) }));
}

const placeOf = ({ region }: Pick<AwsFile, 'region'>): ProviderPlace => ({ region, queue: cloudQueue(name, region) });
