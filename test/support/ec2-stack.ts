// A whole stack that launches on EC2: the emulated cloud with real machines, which are agent processes with addresses of
// their own that know nothing but their metadata service, and a control plane that is configured as for a real account.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildAgent } from '../../agent/build.ts';
import { startEmulator } from '../emulator/emulator.ts';
import type { Emulator } from '../emulator/emulator.ts';
import type { MachineOptions } from '../emulator/machines.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { node24, startStack } from './stack.ts';
import type { StackOptions, TestStack } from './stack.ts';

const regions = ['us-east-1', 'us-west-2'];
const sharedCache = join(import.meta.dirname, '../../node_modules/.cache/ropewalk/python');
/** Of the environment of tests what installing Python packages may need. */
const reachingOut = /^(PATH|SSL_CERT_|REQUESTS_CA|PIP_|UV_|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy)/;

export interface Ec2Stack {
  emulator: Emulator;
  stack: TestStack;
  stop(): Promise<void>;
}

export interface Ec2StackOptions extends Pick<StackOptions, 'home' | 'overrides'> {
  /** False: instances are records only, and whoever started the stack speaks for their agents. */
  machines?: boolean;
  /** What ROPEWALK_AWS_SETTINGS names. */
  settings?: object;
}

export async function startEc2Stack({
  machines = true,
  settings: wanted = awsFile,
  overrides = {},
  ...options
}: Ec2StackOptions = {}): Promise<Ec2Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-stack-'));
  const emulator = await startEmulator(machines ? { machines: await realMachines(directory) } : {});
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
    const aws = {
      AWS_ENDPOINT_URL: emulator.url,
      AWS_ACCESS_KEY_ID: 'AKIATEST',
      AWS_SECRET_ACCESS_KEY: 'test',
      ROPEWALK_AWS_SETTINGS: settings,
    };
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

async function realMachines(directory: string): Promise<MachineOptions> {
  const agent = join(directory, 'agent.mjs');
  await buildAgent(agent);
  await mkdir(sharedCache, { recursive: true, mode: 0o700 });
  const start = `unset ROPEWALK_INSTANCE
    export ROPEWALK_INSTANCE_DIR="$PWD/instance" ROPEWALK_LOG_DIR="$PWD/logs"
    # A machine knows where its cloud's endpoints are; an emulated one finds them beside its metadata service.
    export AWS_ENDPOINT_URL="\${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"
    exec "$NODE" "$AGENT"`;
  return {
    command: ['sh', '-c', start],
    directory: join(directory, 'machines'),
    environment: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => reachingOut.test(name))),
      NODE: node24,
      AGENT: agent,
      ROPEWALK_CLOUD: 'aws',
      ROPEWALK_CACHE_DIR: sharedCache,
    },
  };
}

const withEnv = (section: Record<string, unknown> = {}, env: Record<string, string>): Record<string, unknown> => {
  const { env: own } = section;
  return { ...section, env: { ...(typeof own === 'object' ? own : {}), ...env } };
};
