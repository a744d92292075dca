// Every provider of this release. A new one is a folder, its manifest, and an entry here.
import { RopewalkError } from '../domain/errors.ts';
import { awsManifest } from './aws/manifest.ts';
import { gcpManifest } from './gcp/manifest.ts';
import { localManifest } from './local/manifest.ts';
import type { ConfiguredProvider, ProviderInput, ProviderManifest } from './manifest.ts';

export const manifests: readonly ProviderManifest[] = [localManifest, awsManifest, gcpManifest];

export interface Configured {
  manifest: ProviderManifest;
  provider: ConfiguredProvider;
}

/**
 * Every provider with settings, whether enabled or not, and always this machine. For commands that search for existing
 * resources.
 *
 * @throws RopewalkError VALIDATION naming every problem of a provider's settings.
 */
export function configuredProviders(input: ProviderInput): Configured[] {
  return manifests.flatMap((manifest) => {
    const provider = manifest.configure(input);
    return provider === null ? [] : [{ manifest, provider }];
  });
}

/**
 * The providers that the API and the Temporal workers use: those named by ROPEWALK_PROVIDERS, the preferred one first; by
 * default every configured cloud. This machine must be named explicitly, because its tasks run as the Temporal worker's user,
 * with that user's keys and credentials. `orThisMachine` is for `ropewalk dev`, where that user is the only one.
 *
 * @throws RopewalkError VALIDATION when there is none, or when one is unknown or has no settings.
 */
export function enabledProviders(input: ProviderInput, orThisMachine = false): [Configured, ...Configured[]] {
  const names = (input.env['ROPEWALK_PROVIDERS'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const clouds = configuredProviders(input).filter(({ manifest }) => manifest.kind === 'cloud');
  const [first, ...rest] = names.length === 0 ? clouds : [...new Set(names)].map((name) => named(name, input));
  if (first !== undefined) return [first, ...rest];
  if (orThisMachine) return [named(localManifest.name, input)];
  throw new RopewalkError({
    code: 'VALIDATION',
    message: 'No provider is enabled: ROPEWALK_PROVIDERS is not set, and no cloud is configured.',
    hint: `Configure a cloud (docs/aws.md, docs/gcp.md). ROPEWALK_PROVIDERS=${localManifest.name} runs tasks on the machine of the Temporal worker, as its user: only for people who may read that user's keys.`,
  });
}

/** The deployment that the settings of the clouds name, for a home that has none yet; undefined when they name none. */
export const settingsDeployment = (input: ProviderInput): string | undefined =>
  configuredProviders(input).flatMap(({ provider }) => provider.deploymentId ?? [])[0];

/**
 * The resources of a setup, and the permissions for them, are for the tags of one deployment.
 *
 * @throws RopewalkError CONFLICT when settings name another one.
 */
export function requireSettingsOf(deploymentId: string, configured: readonly Configured[]): void {
  const foreign = configured.find(({ provider }) => (provider.deploymentId ?? deploymentId) !== deploymentId);
  if (foreign === undefined) return;
  const { name: cloud, title, settingsVariable } = foreign.manifest;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `The settings of ${title} (${settingsVariable}) are those of deployment ${foreign.provider.deploymentId}; this is deployment ${deploymentId}.`,
    hint: `Use the settings file of ${deploymentId}, or make one: ropewalk setup ${cloud} --deployment ${deploymentId} --settings FILE. If the other setup is unused: ropewalk setup ${cloud} --remove --deployment ${foreign.provider.deploymentId} removes it.`,
  });
}

function named(name: string, input: ProviderInput): Configured {
  const manifest = manifests.find((each) => each.name === name);
  const known = manifests.map((each) => each.name).join(', ');
  if (manifest === undefined) {
    const message = `ROPEWALK_PROVIDERS names ${JSON.stringify(name)}, and there is no such provider.`;
    throw new RopewalkError({ code: 'VALIDATION', message, hint: `Name some of: ${known}.` });
  }
  const provider = manifest.configure(input);
  if (provider !== null) return { manifest, provider };
  const message = `ROPEWALK_PROVIDERS names ${name}, and ${manifest.title} has no settings.`;
  throw new RopewalkError({ code: 'VALIDATION', message, hint: `Set ${manifest.settingsVariable}, or leave it out.` });
}
