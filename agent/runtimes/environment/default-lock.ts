// The default environment is the same on each instance and on each day: its packages and their dependencies have versions and
// hashes. Users' own requirements are resolved at install time.
import type { PackageFile, PackageIndex } from '../../../schema/software.ts';
import packages from './default-lock.json' with { type: 'json' };
import { defaultRequirements } from './default-requirements.ts';
import { normaliseRequirements } from './requirements.ts';

export interface EnvironmentContent {
  /** Normalized requirements. */
  requirements: readonly string[];
  pinned: boolean;
  packageFiles: readonly PackageFile[];
  /** Only their addresses determine the content; credentials do not. */
  indexes: readonly Pick<PackageIndex, 'url' | 'default'>[];
}

/** Constraints in pip's format, one per line: uv installs no other version, and no file with another hash. */
export const defaultLock: readonly string[] = Object.entries(packages).map(
  ([requirement, hashes]) => `${requirement} ${hashes.map((hash) => `--hash=sha256:${hash}`).join(' ')}`,
);

/** The constraints for this content; none unless it is the default environment from the instance's own index. */
export function lockFor({ requirements, pinned, packageFiles, indexes }: EnvironmentContent): readonly string[] {
  if (pinned || packageFiles.length > 0 || indexes.length > 0) return [];
  const wanted = normaliseRequirements(defaultRequirements);
  const isDefault = requirements.length === wanted.length && wanted.every((each, at) => requirements[at] === each);
  return isDefault ? defaultLock : [];
}
