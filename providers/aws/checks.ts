// Requirements for launching on EC2. `ropewalk doctor` checks all of them; the API and the Temporal worker refuse to start
// without theirs. Otherwise instances would be launched and billed whose agents can never register.
import { RopewalkError } from '../../domain/errors.ts';
import { type Environment, notTriedWithout, type ProviderCheck } from '../manifest.ts';
import { isLoopback } from '../reachable.ts';
import { type IdentityKeys, loadIdentityKeys, shippedIdentityKeys } from './identity.ts';

/** Whether AWS accepts the credentials of this process; resolves to the ARN of their owner. */
export const credentialsCheck = (region: string): ProviderCheck => ({
  name: 'aws credentials',
  run: async (signal) => {
    const { whoCalls } = await import('./caller.ts');
    try {
      return (await whoCalls(region, signal)).arn;
    } catch (cause) {
      const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      const message = `AWS does not accept the credentials of this process: ${text}`;
      const hint =
        'Give it what the API and the Temporal workers have: AWS_PROFILE, AWS_ACCESS_KEY_ID, or an instance role.';
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
    }
  },
});

const identityKeysVariable = 'ROPEWALK_AWS_IDENTITY_KEYS';

/**
 * The keys in the file that ROPEWALK_AWS_IDENTITY_KEYS names, else the AWS certificates shipped with this release.
 *
 * @throws RopewalkError VALIDATION when the file cannot be used, or there is no key for one of the regions.
 */
export async function readIdentityKeys(
  regions: readonly { region: string }[],
  env: Environment,
): Promise<IdentityKeys> {
  const path = env[identityKeysVariable] ?? '';
  const hint = `Name a JSON file {region: PEM} with AWS's certificates of these regions (docs/aws.md) in ${identityKeysVariable}.`;
  const refuse = (message: string, cause?: unknown) =>
    new RopewalkError({ code: 'VALIDATION', message, hint }, { cause });
  const keys =
    path === ''
      ? await shippedIdentityKeys()
      : await loadIdentityKeys(path).catch((cause: unknown) => {
          const why = cause instanceof Error ? cause.message : String(cause);
          throw refuse(`The identity keys in ${path} cannot be used: ${why}`, cause);
        });
  const missing = regions.map(({ region }) => region).filter((region) => !keys.has(region));
  if (missing.length === 0) return keys;
  const where = path === '' ? 'This release' : path;
  throw refuse(`${where} has no identity key for ${missing.join(', ')}: instances there could not register.`);
}

export const identityKeysCheck = (regions: readonly { region: string }[], env: Environment): ProviderCheck => ({
  name: 'aws identity keys',
  run: async () => {
    await readIdentityKeys(regions, env);
    const names = regions.map(({ region }) => region).join(', ');
    const path = env[identityKeysVariable] ?? '';
    return path === '' ? `AWS's certificates of ${names}` : `keys for ${names} in ${path}`;
  },
});

/**
 * EC2 instances cannot reach a loopback address; instances of an EC2 emulator on this machine can.
 *
 * @throws RopewalkError VALIDATION
 */
export function requireReachable(apiUrl: string, env: Environment): void {
  const emulated = env['AWS_ENDPOINT_URL_EC2'] ?? env['AWS_ENDPOINT_URL'] ?? '';
  if (!isLoopback(apiUrl) || isLoopback(emulated)) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `ROPEWALK_API_URL is ${apiUrl}, which is this machine only: no instance of EC2 could register.`,
    hint: 'Set it to an address of the API that the subnets of docs/aws.md reach, for example https://ropewalk.example.com.',
  });
}

export const apiUrlCheck = (env: Environment): ProviderCheck => ({
  name: 'aws api url',
  run: async () => {
    const apiUrl = env['ROPEWALK_API_URL'] ?? '';
    if (apiUrl === '') return notTriedWithout(['ROPEWALK_API_URL']);
    requireReachable(apiUrl, env);
    return apiUrl;
  },
});
