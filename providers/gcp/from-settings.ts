// Creates from a region's settings: a provider that launches, one that only terminates, and the API's reader.
import { agentDownload } from '../agent-download.ts';
import type { PlaceReader, ProviderPlace, ProviderReader } from '../manifest.ts';
import type { Provider } from '../provider.ts';
import { rememberOffers } from '../remembered-offers.ts';
import { unknownRegion } from '../settings.ts';
import { pricesAsOf } from './catalogue.ts';
import { createGcpClients } from './clients.ts';
import { readCloudLogs } from './logs.ts';
import { gcpOffers } from './offers.ts';
import { addressPrices } from './prices.ts';
import { createGcpProvider } from './provider.ts';
import type { GcpAccess } from './settings.ts';
import type { GcpFile } from './settings-file.ts';

/** `apiUrl` is the API's address for instances; the API serves the agent by its hash. */
export function createGcpProviderFrom(
  { node, apiCa, ...settings }: GcpFile,
  launching: { apiUrl: string; agentBundle: string },
  access: GcpAccess,
): Provider {
  const agent = agentDownload(launching, { node, apiCa });
  return createGcpProvider({ settings: { ...settings, agent }, access });
}

/** Lists and terminates only, so it needs no agent. */
export function createGcpTerminator({ node, apiCa, ...settings }: GcpFile, access: GcpAccess): Provider {
  return createGcpProvider({ settings: { ...settings, agent: { url: '', sha256: '', node, apiCa } }, access });
}

/** The first region is the default. */
export function createGcpReader(
  [first, ...rest]: [GcpFile, ...GcpFile[]],
  placeOf: (file: GcpFile) => ProviderPlace,
  access: GcpAccess,
): ProviderReader {
  const clients = createGcpClients(first, access);
  const places = new Map<string, PlaceReader>(
    [first, ...rest].map((file) => [
      file.region,
      {
        ...placeOf(file),
        offers: rememberOffers(() => gcpOffers({ ...clients, region: file.region }, file)),
        zones: file.zones,
        hasGpuDriver: file.gpuImage !== null,
        addressPrices: { head: addressPrices(file), worker: addressPrices(file) },
        onDemandPrices: { source: `a table of ${file.region}`, asOf: pricesAsOf },
      },
    ]),
  );
  return {
    placeOf: (region = first.region) => {
      const found = places.get(region);
      if (found !== undefined) return found;
      throw unknownRegion(region, places.keys(), 'docs/gcp.md');
    },
    // The whole project shares its logs.
    logs: (query) => readCloudLogs(clients, query),
  };
}
