// A whole stack that launches on EC2: the emulated cloud with real machines, which are agent processes with their own addresses
// and no knowledge besides their metadata service, and a control plane with the configuration of a real account.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmulator } from '../emulator/emulator.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { realMachines } from './real-machines.ts';
import { startStack, withEnv } from './stack.ts';
import type { StackOptions, TestStack } from './stack.ts';

const regions = ['us-east-1', 'us-west-2'];
export interface Ec2Stack {
  emulator: Emulator;
  stack: TestStack;
  stop(): Promise<void>;
}

export interface Ec2StackOptions extends Pick<StackOptions, 'home' | 'overrides'> {
  /** False: instances are records only, and the caller sends their agents' messages. */
  machines?: boolean;
  /** The contents of the file that ROPEWALK_AWS_SETTINGS names. */
  settings?: object;
}

export async function startEc2Stack({
  machines = true,
  settings: wanted = awsFile,
  overrides = {},
  ...options
}: Ec2StackOptions = {}): Promise<Ec2Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-stack-'));
  const emulator = await startEmulator(
    machines ? { machines: await realMachines(directory, 'aws', findEndpoint) } : {},
  );
  const close = async (): Promise<void> => {
    await emulator.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const file = async (name: string, value: object): Promise<string> => {
      await writeFile(join(directory, name), JSON.stringify(value));
      return join(directory, name);
    };
    const settings = await file('aws.json', wanted);
    const key = await emulator.identityKey();
    const keys = await file('identity.json', Object.fromEntries(regions.map((region) => [region, key])));
    const aws = ec2Environment(emulator, settings);
    const api = { ...aws, ROPEWALK_AWS_IDENTITY_KEYS: keys };
    const stack = await startStack({
      ...options,
      overrides: { ...overrides, api: withEnv(overrides['api'], api), worker: withEnv(overrides['worker'], aws) },
    });
    const stop = async (): Promise<void> => {
      try {
        await stack.stop();
      } finally {
        await close();
      }
    };
    return { emulator, stack, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A machine knows its cloud's endpoints; an emulated one finds them beside its metadata service. */
const findEndpoint = 'export AWS_ENDPOINT_URL="${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"';

/** As in a process of a control plane; `settings`: the file that ROPEWALK_AWS_SETTINGS names. */
export const ec2Environment = (emulator: Pick<Emulator, 'url'>, settings: string): Record<string, string> => ({
  AWS_ENDPOINT_URL: emulator.url,
  AWS_ACCESS_KEY_ID: 'AKIATEST',
  AWS_SECRET_ACCESS_KEY: 'test',
  ROPEWALK_AWS_SETTINGS: settings,
});
