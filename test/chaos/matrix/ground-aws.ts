// The matrix on emulated EC2: instances are machines whose first process is an agent. The cloud's own append-only ledger records
// the owner, the launch and the end of each instance.
import { cloudQueue } from '../../../domain/cloud-names.ts';
import { createAwsProvider } from '../../../providers/aws/provider.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import { awsSettings, placement } from '../../providers/aws-cloud.ts';
import { ec2Side } from '../../support/cloud-sides.ts';
import { ec2 } from '../../support/clouds.ts';
import { ec2Environment, startEc2Stack } from '../../support/ec2-stack.ts';
import { ownersFrom } from './cloud-places.ts';
import type { Cloud, Ground, GroundOptions } from './ground.ts';
import { weather } from './weather.ts';

const types = ['m6i.large', 'm5.large'];
const calls = ['CreateFleet', 'CreateLaunchTemplate', 'TerminateInstances', 'DescribeInstances'] as const;
/** Longer than the emulated cloud hides a new instance, which would otherwise count as terminated. */
const unseenMs = 10_000;

export async function startAwsGround(options: GroundOptions): Promise<Ground> {
  const started = await startEc2Stack(options);
  const { emulator, stack } = started;
  Object.assign(process.env, ec2Environment(emulator, ''));
  const marker = new RegExp(`(?:^|\\0)AWS_EC2_METADATA_SERVICE_ENDPOINT=${emulator.url}/imds/(i-[0-9a-f]+)`);
  return {
    stack,
    provider: createAwsProvider({ settings: awsSettings, unseenMs }),
    queue: cloudQueue('aws', awsSettings.region),
    jobMachines: { vmTypes: types },
    clusterMachines: { workerVmTypes: types, schedulerVmTypes: types },
    placement: placement({ types }),
    // A task no longer has its agent's environment, but has the name of its instance.
    instanceIn: (environment) =>
      marker.exec(environment)?.[1] ?? /(?:^|\0)ROPEWALK_INSTANCE=(i-[^\0]*)/.exec(environment)?.[1] ?? null,
    ownersOf: ownersFrom(emulator, ec2.tags),
    strike: (id) => emulator.send({ op: 'die', id }),
    cloud: cloudOf(emulator),
    close: () => started.stop(),
  };
}

const cloudOf = (emulator: Emulator): Cloud => ({
  tags: ec2.tags,
  ledger: async () => (await emulator.ledger()).entries,
  existing: ec2Side(emulator).existing,
  beUnkind: (random) => weather(emulator, random, { calls, throttling: ec2.throttling }),
  injected: async () => (await emulator.counts()).injected,
});
