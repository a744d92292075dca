// Access to a head instance on EC2: a security group of the cluster's own, created once, used by its instance, deleted with the
// cluster; and the refusals of the emulated EC2 around it, as in EC2.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { IngressRules } from '../../domain/cluster/capacity/ingress-rules.ts';
import type { LaunchRequest, Owner } from '../../providers/provider.ts';
import { eventually } from '../support/eventually.ts';
import { freshOwner, startCloud, workersRequest } from './aws-cloud.ts';
import type { TestCloud } from './aws-cloud.ts';

const own = { scheduler: { port: 9786, from: ['198.51.100.0/24', '2001:db8::/32'] }, ssh: ['203.0.113.7/32'] };

function headRequest(owner: Owner, ingress: IngressRules, token?: string): LaunchRequest {
  const request = workersRequest(owner, 1, token);
  const { head, worker, oneZone } = request.placement ?? {};
  if (head === undefined || worker === undefined) throw new Error('a request has a placement');
  const slots = [{ slot: 0, generation: 1, role: 'head' as const }, ...request.slots];
  return { ...request, slots, placement: { head, worker, oneZone: oneZone === true, ingress } };
}

describe('the ingress of a cluster', () => {
  let cloud: TestCloud;
  let owner: Owner;
  const never = new AbortController().signal;
  beforeAll(async () => void (cloud = await startCloud()));
  beforeEach(async () => {
    owner = freshOwner();
    await cloud.emulator.send({ op: 'delays', visibleMs: 0, shutdownMs: 0 });
  });
  afterAll(() => cloud?.close());

  const groups = async (of: Owner = owner) =>
    (await cloud.emulator.resources()).filter(
      ({ kind, tags }) => kind === 'security group' && tags['ropewalk:cluster'] === String(of.cluster),
    );
  const groupsOfInstances = async (ids: string[]) =>
    (await cloud.emulator.instances()).filter(({ id }) => ids.includes(id)).map(({ securityGroups }) => securityGroups);

  it('are a group of its own on the head instance alone, with the rules that were asked for', async () => {
    const { launched, failures } = await cloud.provider.launch(headRequest(owner, own));
    expect([launched.length, failures]).toEqual([2, []]);
    const [group, other] = await groups();
    expect([group?.rules?.toSorted(), other]).toEqual([
      ['tcp 22 203.0.113.7/32', 'tcp 9786 198.51.100.0/24', 'tcp 9786 2001:db8::/32'],
      undefined,
    ]);
    expect(await groupsOfInstances([launched[0]?.id ?? ''])).toEqual([['sg-cluster', group?.id]]);
    expect(await groupsOfInstances([launched[1]?.id ?? ''])).toEqual([['sg-cluster']]);
  });

  it('open further ports', async () => {
    const others = [{ port: 9000, from: ['203.0.113.0/24', '2001:db8::/32'] }];
    const { launched } = await cloud.provider.launch(headRequest(owner, { scheduler: null, ssh: null, others }));
    const [group] = await groups();
    expect(group?.rules?.toSorted()).toEqual(['tcp 9000 2001:db8::/32', 'tcp 9000 203.0.113.0/24']);
    expect(await groupsOfInstances([launched[0]?.id ?? ''])).toEqual([['sg-cluster', 'sg-scheduler', group?.id]]);
  });

  it('leave the account’s own groups where they are, when only SSH is asked for', async () => {
    const { launched } = await cloud.provider.launch(headRequest(owner, { scheduler: null, ssh: ['0.0.0.0/0'] }));
    const [group] = await groups();
    expect(group?.rules).toEqual(['tcp 22 0.0.0.0/0']);
    expect(await groupsOfInstances([launched[0]?.id ?? ''])).toEqual([['sg-cluster', 'sg-scheduler', group?.id]]);
  });

  it('are made once, however often and beside each other a launch is tried, and while EC2 does not show them yet', async () => {
    await cloud.emulator.send({ op: 'delays', visibleMs: 1_500 });
    const request = headRequest(owner, own);
    const tries = await Promise.all([cloud.provider.launch(request), cloud.provider.launch(request)]);
    const ids = tries.map(({ launched }) => launched.map(({ id }) => id));
    expect(ids[0]).toHaveLength(2);
    expect(ids[0]).toEqual(ids[1]);
    expect(await groups()).toHaveLength(1);
  });

  it('are deleted with their cluster alone, although its instance still holds them for a while', async () => {
    const neighbour = freshOwner();
    await cloud.provider.launch(headRequest(neighbour, own));
    const { launched } = await cloud.provider.launch(headRequest(owner, own));
    const ids = launched.map(({ id }) => id);
    await cloud.emulator.send({ op: 'delays', shutdownMs: 2_000 });
    const ended = cloud.provider.terminate(owner, ids, never);
    await eventually(async () => (await cloud.emulator.ledger()).live.every((id) => !ids.includes(id)) || null);
    await cloud.provider.release?.(owner, never);
    await ended;
    expect([await groups(), (await groups(neighbour)).length]).toEqual([[], 1]);
    await cloud.provider.release?.(owner, never);
    expect((await cloud.emulator.counts()).calls['DeleteSecurityGroup']).toBeGreaterThan(1);
  });

  it('are among what a sweep finds and removes', async () => {
    const { launched } = await cloud.provider.launch(headRequest(owner, own));
    await cloud.provider.terminate(
      owner,
      launched.map(({ id }) => id),
      never,
    );
    const [group] = await groups();
    const listed = await cloud.provider.listResources(owner.deploymentId);
    expect(listed).toContainEqual({ id: group?.id, kind: 'security group', owner, createdAtMs: null });
    await cloud.provider.deleteResources(owner, [group?.id ?? ''], never);
    expect(await groups()).toEqual([]);
  });

  it('are reported as a quota of the account when it can have no more security groups', async () => {
    const text = 'The maximum number of security groups has been reached.';
    const fault = {
      action: 'CreateSecurityGroup',
      kind: 'error',
      code: 'SecurityGroupLimitExceeded',
      message: text,
    } as const;
    const calls = (await cloud.emulator.counts()).calls['CreateSecurityGroup'] ?? 0;
    await cloud.emulator.send({ op: 'fault', fault: { ...fault, status: 400 } });
    const { failures } = await cloud.provider.launch(headRequest(owner, own));
    expect([failures[0]?.scope, failures[0]?.code]).toEqual(['quota', 'SecurityGroupLimitExceeded']);
    expect((await cloud.emulator.counts()).calls['CreateSecurityGroup']).toBe(calls + 1);
  });
});
