// The EC2 provider against the emulated cloud: its creation for tests, and their requests to it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { AwsFile } from '../../providers/aws/settings-file.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { AwsProviderOptions } from '../../providers/aws/provider.ts';
import type { AwsSettings } from '../../providers/aws/settings.ts';
import type { Provider } from '../../providers/provider.ts';
import { startEmulator } from '../emulator/emulator.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { launchRequestsOf } from './launch-requests.ts';

/** As in a file that ROPEWALK_AWS_SETTINGS names. */
export const awsFile: AwsFile = {
  deployment: null,
  region: 'us-east-1',
  subnets: ['a', 'b', 'c'].map((letter) => ({ id: `subnet-us-east-1${letter}`, zone: `us-east-1${letter}` })),
  workerSubnets: null,
  workspaceProfiles: {},
  workspaceAccounts: {},
  securityGroups: { cluster: 'sg-cluster', scheduler: ['sg-scheduler'] },
  instanceProfile: 'ropewalk',
  assignPublicIps: true,
  gpuImage: null,
  node: {
    x86_64: { url: 'https://nodejs.example/node-x64.tar.xz', sha256: '1'.repeat(64) },
    arm64: { url: 'https://nodejs.example/node-arm64.tar.xz', sha256: '2'.repeat(64) },
  },
  apiCa: null,
};

const { node, apiCa, workspaceAccounts: _accounts, ...account } = awsFile;
export const awsSettings: AwsSettings = {
  ...account,
  agent: { url: 'https://ropewalk.example/v1/agent/program', sha256: '0'.repeat(64), node, apiCa },
};

export interface TestCloud {
  emulator: Emulator;
  provider: Provider;
  options: AwsProviderOptions;
  /** The machines' working directories, by instance id. */
  directory: string;
  close(): Promise<void>;
}

/** `machine`: a shell script that each instance runs as its first process; without it they are records only. */
export async function startCloud(machine: string | null = null): Promise<TestCloud> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-'));
  const environment = { PATH: process.env['PATH'] ?? '' };
  const machines = machine === null ? {} : { machines: { command: ['sh', '-c', machine], directory, environment } };
  const emulator = await startEmulator(machines);
  process.env['AWS_ENDPOINT_URL'] = emulator.url;
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIATEST';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  const options = { settings: awsSettings, unseenMs: 1_000 };
  return {
    emulator,
    provider: createAwsProvider(options),
    options,
    directory,
    async close() {
      await emulator.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export { freshOwner } from './launch-requests.ts';
export const { placement, workersRequest } = launchRequestsOf('m6i.large');
