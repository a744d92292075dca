// The enabled providers of this control plane, from the composition root.
import { RopewalkError } from '../domain/errors.ts';
import type {
  CloudAccount,
  IdentityVerifier,
  ProviderCheck,
  ProviderManifest,
  ProviderPlace,
  ProviderReader,
} from '../providers/manifest.ts';
import type { LogLine, LogQuery } from '../providers/provider.ts';

export interface ServedProvider {
  manifest: Pick<
    ProviderManifest,
    | 'name'
    | 'title'
    | 'kind'
    | 'families'
    | 'isInstanceId'
    | 'refusal'
    | 'offersByName'
    | 'offersToMeasure'
    | 'nameHint'
  >;
  reader: ProviderReader;
  /** Null when its instances need no proof, because they are processes of this host. */
  identity: IdentityVerifier | null;
  /** For admins; absent when there is nothing to show. */
  places?: readonly ProviderPlace[];
  accounts?: readonly CloudAccount[];
  checks?: readonly ProviderCheck[];
}

/** The first one serves requests without a provider. */
export type Providers = readonly [ServedProvider, ...ServedProvider[]];

/**
 * Returns the preferred provider when no name is given.
 *
 * @throws RopewalkError VALIDATION for a provider that the operator has not enabled.
 */
export function providerOf(providers: Providers, name: string | undefined): ServedProvider {
  if (name === undefined) return providers[0];
  const found = providers.find(({ manifest }) => manifest.name === name);
  if (found !== undefined) return found;
  const enabled = providers.map(({ manifest }) => `${manifest.name} (${manifest.title})`).join(', ');
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'provider',
    message: `The provider ${JSON.stringify(name)} is not enabled on this control plane.`,
    hint: `Enabled: ${enabled}. An operator enables others with ROPEWALK_PROVIDERS (docs/operations.md).`,
  });
}

/**
 * Reads log lines from the provider of a cluster.
 *
 * @throws RopewalkError NOT_FOUND when that provider is no longer enabled.
 */
export function logsOf(providers: Providers, name: string, query: LogQuery): AsyncIterable<LogLine> {
  const found = providers.find(({ manifest }) => manifest.name === name);
  if (found !== undefined) return found.reader.logs(query);
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `Cluster ${query.owner.cluster} ran on ${name}, and this control plane has no access to its logs any more.`,
    hint: 'An operator enables and configures this provider for the API as it was when the cluster ran (docs/operations.md).',
  });
}

/** Cores of the machine, for a provider of kind `host`. */
export async function coresOf(reader: ProviderReader): Promise<number> {
  const [offer] = await reader.placeOf(undefined).offers();
  return offer?.vcpus ?? 1;
}
