// Every action in the control plane's policy is needed: without any one of them, a call of the provider is refused.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startCloud, type TestCloud } from './aws-cloud.ts';
import { actionsOf, deployment, liveOnce, permit, readControlPolicy, without } from './aws-permits.ts';

let cloud: TestCloud;
beforeAll(async () => void (cloud = await startCloud()));
afterAll(() => cloud.close());

/** Without fleets, RunInstances launches type by type; without types, the dated table serves; without spot prices, the on-demand price counts. */
const spared = ['CreateFleet', 'DescribeInstanceTypeOfferings', 'DescribeInstanceTypes', 'DescribeSpotPriceHistory'];

/**
 * The first is put first below; the second is for accounts of workspaces: aws-accounts.test.ts; the third for the check of
 * quotas, which no launch needs: aws-launch-check.test.ts.
 */
const apart = ['ssm:GetParameter', 'sts:AssumeRole', 'servicequotas:GetServiceQuota'];

it('has no action that the provider can do without, but for those that have a substitute', async () => {
  const whole = await readControlPolicy();
  const found: string[] = [];
  const never = new AbortController().signal;
  // A process reads the name of the image once a day: here for the first action.
  const actions = ['ssm:GetParameter', ...actionsOf(whole).filter((action) => !apart.includes(action))];
  for (const action of actions) {
    await permit(cloud, [without(whole, action)]);
    const refusal = await liveOnce(cloud).then(
      () => null,
      (error: unknown) => String(error),
    );
    await permit(cloud, null);
    if (refusal === null) found.push(action);
    else
      expect([action, refusal]).toEqual([action, expect.stringMatching(/unauthorized|not authorized|access ?denied/i)]);
    for (const { id, owner } of await cloud.provider.list(deployment)) {
      await cloud.provider.terminate(owner, [id], never);
    }
    for (const { id, owner } of await cloud.provider.listResources(deployment)) {
      await cloud.provider.deleteResources(owner, [id], never);
    }
  }
  expect(found.toSorted()).toEqual(spared.map((name) => `ec2:${name}`));
});
