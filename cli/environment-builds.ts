// The builds of a named environment, one line each.
import type { EnvironmentDetails } from '../sdk/client.ts';
import { mebibytes } from './files.ts';
import { clean } from './output.ts';

type Build = EnvironmentDetails['builds'][number];

export const buildLines = (builds: readonly Build[]): string[] => builds.map((build) => clean(lineOf(build)));

function lineOf({ state, platform, hasSetupScript, cluster, instance, user, archive, lastUsedAt }: Build): string {
  const by = `instance ${instance} of cluster ${cluster} (${user})`;
  const after = hasSetupScript ? ', after a host setup script' : '';
  if (archive !== null) {
    const size = `${mebibytes(archive.bytes)} (${mebibytes(archive.unpackedBytes)} unpacked)`;
    const built = `built in ${archive.buildSeconds} s by ${by} at ${archive.storedAt}`;
    return `Stored for ${platform}${after}: ${size}, ${built}, last used ${lastUsedAt}`;
  }
  return `${others[state]} for ${platform}${after}: ${by}`;
}

const others: Record<Build['state'], string> = {
  building: 'Being built',
  stored: 'Stored',
  failed: 'Could not be built or stored',
  'too-large': 'Too large to be stored',
};
