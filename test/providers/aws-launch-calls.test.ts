// The number of calls for a large cluster: EC2 throttles calls, not instances in them. `npm run bench -- ec2` measures the whole
// control plane's.
import { expect, it } from 'vitest';

import { createEc2Cluster } from '../ec2/cluster.ts';
import { startCloud } from './aws-cloud.ts';

it('a cluster of 1,000 workers is launched by four calls, none of which EC2 refuses for its rate', async () => {
  const cloud = await startCloud();
  try {
    await cloud.emulator.send({ op: 'throttle', on: true });
    const cluster = createEc2Cluster(cloud, { instances: 1_001 });
    await cluster.settle();
    const { calls, injected } = await cloud.emulator.counts();
    // Three launches of at most 500, one of them with the head instance, which needs a call of its own; a template for each.
    expect([calls['CreateFleet'], calls['RunInstances'] ?? 0, calls['CreateLaunchTemplate']]).toEqual([4, 0, 4]);
    expect(Object.values(calls).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
    expect(injected).toEqual({});
    const { live } = await cloud.emulator.ledger();
    expect([live.length, cluster.state.instances.length]).toEqual([1_001, 1_001]);
  } finally {
    await cloud.close();
  }
});
