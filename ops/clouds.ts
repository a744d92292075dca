// The clouds that an environment configures, region by region, and providers that list and terminate there.
import { cloudQueue } from '../domain/cloud-names.ts';
import { RopewalkError } from '../domain/errors.ts';
import { type AwsFile, readAwsRegions } from '../providers/aws/settings-file.ts';
import type { Provider } from '../providers/provider.ts';

type Env = Record<string, string | undefined>;

/** One region of one cloud. */
export interface Place {
  provider: string;
  /** Named by its region: the queue without one is another region's when another one becomes the default. */
  providerQueue: string;
}

/**
 * The same variable tells the API and every Temporal worker.
 *
 * @throws RopewalkError VALIDATION naming every problem of the file.
 */
export const configuredPlaces = (env: Env): Place[] =>
  awsRegions(env).map(({ region }) => ({ provider: 'aws', providerQueue: cloudQueue('aws', region) }));

/** The default one first; none when EC2 is not configured. */
export function awsRegions(env: Env): AwsFile[] {
  const path = env['ROPEWALK_AWS_SETTINGS'] ?? '';
  if (path === '') return [];
  try {
    return readAwsRegions(path).regions;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = 'Set ROPEWALK_AWS_SETTINGS to the file that the API and the Temporal worker read.';
    throw new RopewalkError({ code: 'VALIDATION', message, hint }, { cause });
  }
}

/** Providers that launch nothing: they list and terminate. Loaded only when there are any, because they are large. */
export async function cloudsToEnd(env: Env): Promise<{ where: string; provider: Provider }[]> {
  const regions = awsRegions(env);
  if (regions.length === 0) return [];
  const { createAwsProviderToEnd } = await import('../providers/aws/from-settings.ts');
  return regions.map((file) => ({ where: file.region, provider: createAwsProviderToEnd(file) }));
}
