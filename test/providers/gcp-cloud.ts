// The Compute Engine provider against the emulated project: its creation for tests, and their requests to it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createGcpProvider } from '../../providers/gcp/provider.ts';
import type { GcpProviderOptions } from '../../providers/gcp/provider.ts';
import type { GcpSettings } from '../../providers/gcp/settings.ts';
import type { GcpFile } from '../../providers/gcp/settings-file.ts';
import type { Provider } from '../../providers/provider.ts';
import { serviceAccount } from '../emulator/gcp/bulk-insert.ts';
import { startGcpEmulator } from '../emulator/gcp/emulator.ts';
import type { GcpEmulator } from '../emulator/gcp/emulator.ts';
import { awsFile } from './aws-cloud.ts';
import { launchRequestsOf } from './launch-requests.ts';

/** As in a file that ROPEWALK_GCP_SETTINGS names. */
export const gcpFile: GcpFile = {
  deployment: null,
  project: 'test-project',
  region: 'us-central1',
  zones: ['a', 'b', 'c'].map((letter) => `us-central1-${letter}`),
  network: 'ropewalk',
  subnetwork: 'ropewalk',
  networkTags: { cluster: ['ropewalk'], scheduler: ['ropewalk-scheduler'] },
  serviceAccount,
  workspaceServiceAccounts: {},
  assignPublicIps: true,
  images: {
    x86_64: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64',
    arm64: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-arm64',
  },
  gpuImage: null,
  maxRunDays: 30,
  node: awsFile.node,
  apiCa: null,
};

const { node, apiCa, ...project } = gcpFile;
export const gcpSettings: GcpSettings = {
  ...project,
  agent: { url: 'https://ropewalk.example/v1/agent/program', sha256: '0'.repeat(64), node, apiCa },
};

export interface GcpTestCloud {
  emulator: GcpEmulator;
  provider: Provider;
  options: GcpProviderOptions;
  /** The machines' working directories, by instance name. */
  directory: string;
  close(): Promise<void>;
}

/** Google's library finds credentials as on a machine of Google Cloud, from its metadata server. */
export const credentialsOf = ({ url }: Pick<GcpEmulator, 'url'>): Record<string, string> => ({
  GCE_METADATA_HOST: new URL(url).host,
});

/** `machine`: a shell script that each instance runs as its first process; without it they are records only. */
export async function startGcpCloud(machine: string | null = null): Promise<GcpTestCloud> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-gcp-'));
  const environment = { PATH: process.env['PATH'] ?? '' };
  const machines = machine === null ? {} : { machines: { command: ['sh', '-c', machine], directory, environment } };
  const emulator = await startGcpEmulator(machines);
  Object.assign(process.env, credentialsOf(emulator));
  const options = {
    settings: gcpSettings,
    access: { endpoint: emulator.url, loggingEndpoint: emulator.url },
    unseenMs: 1_000,
  };
  return {
    emulator,
    provider: createGcpProvider(options),
    options,
    directory,
    async close() {
      await emulator.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export { freshOwner } from './launch-requests.ts';
export const { placement, workersRequest } = launchRequestsOf('n2-standard-2');
