// EC2 can keep showing a stopped instance as such while it is being terminated.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { eventually } from '../support/eventually.ts';

const shutdownMs = 60_000;

describe('an instance that was stopped from outside', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  it('is terminated again until EC2 shows it shutting down, and then no more', async () => {
    const owner = freshOwner();
    const { launched } = await cloud.provider.launch(workersRequest(owner, 1));
    const [id = ''] = launched.map((each) => each.id);
    await cloud.emulator.send({ op: 'stop', id });
    await cloud.emulator.send({ op: 'delays', shutdownMs });
    const ended = cloud.provider.terminate(owner, [id], AbortSignal.timeout(20_000));
    const looks = async (): Promise<number> => (await cloud.emulator.counts()).calls['DescribeInstances'] ?? 0;
    await eventually(async () => (await looks()) >= 4);
    await cloud.emulator.send({ op: 'advance', ms: shutdownMs });
    await ended;
    expect((await cloud.emulator.counts()).calls['TerminateInstances']).toBe(1);
  });
});
