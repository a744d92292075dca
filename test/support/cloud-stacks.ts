// A whole stack on each emulated cloud, for tests of every cloud.
import { cloudQueue } from '../../domain/cloud-names.ts';
import type { CloudEmulator, CloudUnderTest } from './clouds.ts';
import { ec2Side, gceSide } from './cloud-sides.ts';
import type { CloudSide } from './cloud-sides.ts';
import { startEc2Stack } from './ec2-stack.ts';
import { startGcpStack } from './gcp-stack.ts';
import type { StackOptions, TestStack } from './stack.ts';

export interface CloudStack extends CloudSide {
  of: CloudUnderTest;
  emulator: CloudEmulator;
  stack: TestStack;
  /** The task queue of its activities. */
  queue: string;
  stop: () => Promise<void>;
}

export interface CloudStackOptions extends Pick<StackOptions, 'home' | 'overrides'> {
  /** False: instances are records only. */
  machines?: boolean;
}

export async function startCloudStack(of: CloudUnderTest, options: CloudStackOptions): Promise<CloudStack> {
  const queue = cloudQueue(of.name, of.region);
  if (of.name === 'aws') {
    const started = await startEc2Stack(options);
    return { ...started, of, queue, ...ec2Side(started.emulator) };
  }
  const started = await startGcpStack(options);
  return { ...started, of, queue, ...gceSide(started.emulator) };
}
