// The live suite's description of each cloud: its account, the permitted launches, and the launched machine.
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

import { createAwsProvider } from '../../providers/aws/provider.ts';
import { readAwsSettings } from '../../providers/aws/settings-file.ts';
import type { AwsSettings } from '../../providers/aws/settings.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import { readGcpRegions } from '../../providers/gcp/settings-file.ts';
import type { GcpAccess, GcpSettings } from '../../providers/gcp/settings.ts';
import type { LaunchRequest, Provider } from '../../providers/provider.ts';
import { dryRun } from './dry-run.ts';

export interface LiveCloud {
  name: string;
  /** The smallest machine that the provider offers. */
  type: string;
  diskGib: number;
  /** More than a run can cost, in US dollars. */
  costBound: number;
  /** A label or tag, as its console shows it. */
  mark: (deploymentId: string) => string;
  provider: (unseenMs?: number) => Provider;
  account: () => Promise<string>;
  /** For each launch call `permitted`, or the reason why not; empty for a cloud without dry runs. */
  verdicts: (request: LaunchRequest) => Promise<Record<string, string>>;
}

export function liveEc2(settings: AwsSettings): LiveCloud {
  return {
    name: 'AWS',
    type: 't3.micro',
    diskGib: 8,
    costBound: 0.01,
    mark: (deploymentId) => `tagged ropewalk:deployment=${deploymentId}`,
    provider: (unseenMs) => createAwsProvider({ settings, ...(unseenMs === undefined ? {} : { unseenMs }) }),
    account: async () => `account ${await accountOf(settings.region)}, region ${settings.region}`,
    verdicts: (request) => dryRun(settings, request),
  };
}

export function liveGce(settings: GcpSettings, access: GcpAccess): LiveCloud {
  return {
    name: 'Google Cloud',
    type: 'e2-standard-2',
    diskGib: 10,
    // $0.07 an hour in us-central1, at most $0.11 elsewhere, for half an hour.
    costBound: 0.06,
    mark: (deploymentId) => `labelled ropewalk-deployment=${deploymentId}`,
    // Google itself deletes the instances of a killed run after a day.
    provider: (unseenMs) => {
      const options = { settings: { ...settings, maxRunDays: 1 }, access };
      return createGcpProvider({ ...options, ...(unseenMs === undefined ? {} : { unseenMs }) });
    },
    account: async () => `project ${settings.project}, region ${settings.region}`,
    verdicts: async () => ({}),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that a run requires, by the name of the provider. */
export const liveClouds: Record<
  string,
  { consent: string; settings: string; read: (path: string, env: Environment) => LiveCloud }
> = {
  aws: {
    consent: 'ROPEWALK_LIVE_AWS',
    settings: 'ROPEWALK_AWS_SETTINGS',
    read: (path) => {
      const { node, apiCa, ...account } = readAwsSettings(path);
      return liveEc2({ ...account, agent: { ...noAgent, node, apiCa } });
    },
  },
  gcp: {
    consent: 'ROPEWALK_LIVE_GCP',
    settings: 'ROPEWALK_GCP_SETTINGS',
    read: (path, env) => {
      const [{ node, apiCa, ...project }] = readGcpRegions(path);
      const endpoint = env['CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE'] ?? null;
      return liveGce({ ...project, agent: { ...noAgent, node, apiCa } }, { endpoint, loggingEndpoint: null });
    },
  },
};

/** No control plane takes part: there is no agent to fetch. */
const noAgent = { url: 'https://ropewalk.invalid/agent', sha256: '0'.repeat(64) };

async function accountOf(region: string): Promise<string> {
  const sts = new STSClient({ region });
  try {
    return (await sts.send(new GetCallerIdentityCommand({}))).Account ?? 'unknown';
  } finally {
    sts.destroy();
  }
}
