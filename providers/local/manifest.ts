// The manifest of the local provider: this machine, always configured.
import { availableParallelism } from 'node:os';

import { RopewalkError } from '../../domain/errors.ts';
import { noAddresses } from '../../domain/offers/plan.ts';
import type { PlaceReader, ProviderManifest } from '../manifest.ts';
import { isInstanceId } from './files.ts';
import { readLogs } from './logs.ts';
import { localOffer, localOffers, localPrice } from './offers.ts';
import { createLocalProvider } from './provider.ts';

/** A launch without room waits in line this long; a workflow's backoff would poll instead. */
const waitForRoomMs = 20_000;
const anything = /^/;

export const localManifest: ProviderManifest = {
  name: 'local',
  title: 'this machine',
  kind: 'host',
  settingsVariable: null,
  families: { balanced: anything, all: anything, gpu: anything },
  isInstanceId,
  mayPass: () => false,
  agentEnvironment: {},
  setup: null,
  configure: ({ env, home, hostId }) => {
    const cores = availableParallelism();
    const price = localPrice(env['ROPEWALK_LOCAL_DOLLARS_PER_HOUR']);
    const place = { region: null, queue: `local/${hostId}` };
    const reader: PlaceReader = {
      ...place,
      offers: async () => localOffers(cores, price),
      zones: [localOffer.zone],
      hasGpuDriver: false,
      onDemandPrices: null,
      addressPrices: noAddresses,
    };
    return {
      places: [place],
      reader: async () => ({
        placeOf: (region) => {
          if (region === undefined) return reader;
          throw new RopewalkError({
            code: 'VALIDATION',
            field: 'region',
            message: `This machine has no regions, and the request names ${region}.`,
            hint: 'Leave the region out, or name a cloud as the provider.',
          });
        },
        logs: (query) => readLogs(home, query),
      }),
      providers: async ({ agentBundle, nodePath, maxLocalInstances: maxInstances, onCrash }) => {
        const options = { home, agentBundle, nodePath, maxInstances, waitForRoomMs, cores, price, environment: env };
        const provider = createLocalProvider({ ...options, ...(onCrash === undefined ? {} : { onCrash }) });
        return [{ place, provider }];
      },
      terminators: async () => {
        // This provider launches nothing, so it needs neither agent nor Node.js.
        const provider = createLocalProvider({ home, agentBundle: '', nodePath: '', maxInstances: 0, cores });
        return [{ place, provider }];
      },
      identity: async () => null,
      deploymentId: null,
      accounts: [],
      checks: [],
    };
  },
};
