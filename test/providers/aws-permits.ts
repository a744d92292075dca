// The IAM policy of the control plane in tests, and the whole life of a cluster under it.
import { tryLaunch } from '../../providers/aws/launch-check.ts';
import { checkSubnets } from '../../providers/aws/subnet-check.ts';
import { controlPlanePolicy } from '../../providers/aws/setup/policies.ts';
import type { LaunchRequest, Owner } from '../../providers/provider.ts';
import { parsePolicy, type Policy } from '../emulator/policy.ts';
import { awsFile, freshOwner, placement, type TestCloud, workersRequest } from './aws-cloud.ts';

export const deployment = 'd_test';

/** With null the key has full access. */
export const permit = ({ emulator }: TestCloud, policies: Policy[] | null) =>
  emulator.send({
    ...{ op: 'permit', accessKeyId: 'AKIATEST' },
    policies: policies?.map((policy) => JSON.stringify(policy)) ?? null,
  });

export const without = (policy: Policy, action: string): Policy => ({
  ...policy,
  Statement: policy.Statement.map((each) => ({
    ...each,
    Action: each.Action.filter((name) => name !== action),
  })).filter(({ Action }) => Action.length > 0),
});

export const actionsOf = ({ Statement }: Policy): string[] => [...new Set(Statement.flatMap(({ Action }) => Action))];

export const readControlPolicy = async (): Promise<Policy> =>
  parsePolicy(await controlPlanePolicy({ account: '123456789012', role: 'ropewalk', deploymentId: deployment }));

/** A head instance and workers on the spot market, with a security group of their own. */
function everything(owner: Owner): LaunchRequest {
  const worker = placement({ market: 'spot' });
  const request = workersRequest(owner, 2, undefined, worker);
  const ingress = { scheduler: { port: 9786, from: ['198.51.100.0/24'] }, ssh: null };
  const slots = [{ slot: 0, generation: 1, role: 'head' as const }, ...request.slots];
  return { ...request, slots, placement: { head: placement(), worker, oneZone: true, ingress } };
}

/** All calls of a cluster's life and the reads of the operator's commands; rejects when any is refused. */
export async function liveOnce({ provider, emulator }: TestCloud): Promise<void> {
  const owner = freshOwner();
  const never = new AbortController().signal;
  await provider.offers({});
  const { launched, failures } = await provider.launch(everything(owner));
  if (failures.length > 0) throw new Error(failures.map(({ code }) => code).join());
  const ids = launched.map(({ id }) => id);
  if ((await provider.describe(owner, ids)).length !== 3) throw new Error('not all instances are described');
  await emulator.send({ op: 'keepVolume', id: ids[0] ?? '' });
  await provider.list(deployment);
  for await (const _line of provider.logs({ owner })) throw new Error('a line that no instance wrote');
  await checkSubnets(awsFile, never);
  await tryLaunch(awsFile, { deploymentId: deployment, apiUrl: 'https://ropewalk.example' }, never);
  await provider.terminate(owner, ids, never);
  await provider.lifetimes?.(owner, ids);
  await provider.release?.(owner, never);
  const left = (await provider.listResources(deployment)).map(({ id }) => id);
  if (left.length === 0) throw new Error('the volume that was kept is not listed');
  await provider.deleteResources(owner, left, never);
}
