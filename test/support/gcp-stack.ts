// A whole stack that launches on Compute Engine: the emulated project with real machines, which are agent processes with their
// own addresses and no knowledge besides their metadata server, and a control plane with the configuration of a real project.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startGcpEmulator } from '../emulator/gcp/emulator.ts';
import type { GcpEmulator } from '../emulator/gcp/emulator.ts';
import { credentialsOf, gcpFile } from '../providers/gcp-cloud.ts';
import { realMachines } from './real-machines.ts';
import { startStack, withEnv } from './stack.ts';
import type { StackOptions, TestStack } from './stack.ts';

export interface GcpStack {
  emulator: GcpEmulator;
  stack: TestStack;
  stop(): Promise<void>;
}

export interface GcpStackOptions extends Pick<StackOptions, 'home' | 'overrides'> {
  /** False: instances are records only, and the caller sends their agents' messages. */
  machines?: boolean;
}

export async function startGcpStack({
  machines = true,
  overrides = {},
  ...options
}: GcpStackOptions = {}): Promise<GcpStack> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-gcp-stack-'));
  const emulator = await startGcpEmulator(machines ? { machines: await realMachines(directory, 'gcp') } : {});
  const close = async (): Promise<void> => {
    await emulator.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const settings = join(directory, 'gcp.json');
    await writeFile(settings, JSON.stringify(gcpFile));
    const env = { ...gcpEnvironment(emulator, settings), ROPEWALK_PROVIDERS: 'gcp' };
    const stack = await startStack({
      ...options,
      overrides: { ...overrides, api: withEnv(overrides['api'], env), worker: withEnv(overrides['worker'], env) },
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

/** As in a process of a control plane; `settings`: the file that ROPEWALK_GCP_SETTINGS names. */
export const gcpEnvironment = (emulator: Pick<GcpEmulator, 'url'>, settings: string): Record<string, string> => ({
  ...credentialsOf(emulator),
  CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: emulator.url,
  CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING: emulator.url,
  ROPEWALK_GCP_IDENTITY_KEYS_URL: `${emulator.url}/oauth2/v3/certs`,
  ROPEWALK_GCP_SETTINGS: settings,
});
