// The manifest of Compute Engine. Its configuration is the file that ROPEWALK_GCP_SETTINGS names, which the API, every Temporal
// worker and the operator's commands read; credentials are Application Default Credentials.
import { cloudQueue, gceInstanceId } from '../../domain/cloud-names.ts';
import type { CloudAccount, ConfiguredProvider, Environment, ProviderManifest, ProviderPlace } from '../manifest.ts';
import { readSettings } from '../settings.ts';
import { agentCheck } from '../agent-check.ts';
import { nodeCheck } from '../node-check.ts';
import { mayHaveLaunched } from './api-errors.ts';
import { apiUrlCheck, credentialsCheck, identityKeysCheck, requireReachable } from './checks.ts';
import { customOffers, customProblem, offersToMeasure } from './custom-types.ts';
import { gcpFamilies } from './families.ts';
import { createIdentityVerifier, googleKeysUrl } from './identity.ts';
import type { GcpAccess } from './settings.ts';
import { gcpRefusal } from './refusals.ts';
import { resourceChecks } from './resource-checks.ts';
import { readGcpRegions } from './settings-file.ts';
import type { GcpFile } from './settings-file.ts';

const name = 'gcp';
const settingsVariable = 'ROPEWALK_GCP_SETTINGS';

export const gcpManifest: ProviderManifest = {
  name,
  title: 'Google Compute Engine',
  kind: 'cloud',
  settingsVariable,
  families: gcpFamilies,
  refusal: gcpRefusal,
  offersByName: customOffers,
  offersToMeasure,
  nameHint: customProblem,
  isInstanceId: (id) => gceInstanceId.test(id),
  mayPass: mayHaveLaunched,
  agentEnvironment: { ROPEWALK_CLOUD: name },
  configure: ({ env }) => {
    const path = env[settingsVariable] ?? '';
    return path === '' ? null : configured(readSettings(settingsVariable, path, readGcpRegions), env);
  },
  setup: async () => (await import('./setup/setup.ts')).gcpSetup,
};

function configured(regions: [GcpFile, ...GcpFile[]], env: Environment): ConfiguredProvider {
  const [first, ...rest] = regions;
  const access = accessOf(env);
  const keysUrl = env['ROPEWALK_GCP_IDENTITY_KEYS_URL'] ?? googleKeysUrl;
  return {
    deploymentId: first.deployment,
    places: [placeOf(first), ...rest.map(placeOf)],
    reader: async () => {
      const { createGcpReader } = await import('./from-settings.ts');
      return createGcpReader(regions, placeOf, access);
    },
    providers: async (launching) => {
      requireReachable(launching.apiUrl, access);
      const { createGcpProviderFrom } = await import('./from-settings.ts');
      return regions.map((file) => ({
        place: placeOf(file),
        provider: createGcpProviderFrom(file, launching, access),
      }));
    },
    terminators: async () => {
      const { createGcpTerminator } = await import('./from-settings.ts');
      return regions.map((file) => ({ place: placeOf(file), provider: createGcpTerminator(file, access) }));
    },
    identity: async () => createIdentityVerifier(first.project, keysUrl),
    accounts: accountsOf(first),
    checks: [
      credentialsCheck(first, access),
      identityKeysCheck(keysUrl),
      ...resourceChecks(regions, env),
      apiUrlCheck(env, access),
      agentCheck(name, env, first.apiCa),
      nodeCheck(name, settingsVariable, first.node),
    ],
  };
}

const accountsOf = ({ project, serviceAccount, workspaceServiceAccounts }: GcpFile): CloudAccount[] => {
  const account = `project ${project}`;
  return [
    { workspace: null, account, detail: `instances are ${serviceAccount}` },
    ...Object.entries(workspaceServiceAccounts).map(([workspace, own]) => ({
      ...{ workspace, account, detail: `instances are ${own}` },
    })),
  ];
};

/** The variables with which gcloud overrides the addresses of these APIs; its addresses end with a slash. */
const accessOf = (env: Environment): GcpAccess => ({
  endpoint: env['CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE'] ?? null,
  loggingEndpoint: env['CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING']?.replace(/\/+$/, '') ?? null,
});

const placeOf = ({ region }: Pick<GcpFile, 'region'>): ProviderPlace => ({ region, queue: cloudQueue(name, region) });
