// The IAM policies of ops/aws in use: the emulated account allows only their grants, dry runs included. With them all operations
// of setup and the provider work; without any one of their actions, a call is refused.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CreateFleetCommand,
  CreateSecurityGroupCommand,
  type EC2Client,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { runSetup } from '../../ops/setup.ts';
import { clientOf } from '../emulator/client.ts';
import { parsePolicy } from '../emulator/policy.ts';
import { freshOwner, startCloud, type TestCloud, workersRequest } from './aws-cloud.ts';
import { deployment, liveOnce, permit, readControlPolicy, without } from './aws-permits.ts';

let cloud: TestCloud;
let ec2: EC2Client;
beforeAll(async () => {
  cloud = await startCloud();
  ec2 = clientOf(cloud.emulator);
});
afterEach(() => permit(cloud, null));
afterAll(async () => {
  ec2.destroy();
  await cloud.close();
});

const never = new AbortController().signal;

describe('the policy of the control plane', () => {
  it('suffices for all that the provider does', async () => {
    await permit(cloud, [await readControlPolicy()]);
    await liveOnce(cloud);
    expect(await cloud.provider.listResources(deployment)).toEqual([]);
  });

  it('is refused to terminate what another deployment launched, and to change what has no tag', async () => {
    const other = { ...freshOwner(), deploymentId: 'd_other' };
    const { launched } = await cloud.provider.launch(workersRequest(other, 1));
    const InstanceIds = launched.map(({ id }) => id);
    await permit(cloud, [await readControlPolicy()]);
    const refused = { name: 'UnauthorizedOperation' };
    await expect(ec2.send(new TerminateInstancesCommand({ InstanceIds }))).rejects.toMatchObject(refused);
    await expect(ec2.send(new TerminateInstancesCommand({ InstanceIds, DryRun: true }))).rejects.toMatchObject(refused);
    const untagged = { GroupName: 'mine', Description: 'mine', VpcId: 'vpc-us-east-1' };
    await expect(ec2.send(new CreateSecurityGroupCommand(untagged))).rejects.toMatchObject(refused);
    expect(await cloud.provider.list('d_other')).toHaveLength(1);
    await permit(cloud, null);
    await cloud.provider.terminate(other, InstanceIds, never);
  });

  it('launches only with a tag of this deployment, in its own role, and says so in a dry run too', async () => {
    const tagged = (Value: string) => [
      { ResourceType: 'instance' as const, Tags: [{ Key: 'ropewalk:deployment', Value }] },
      { ResourceType: 'volume' as const, Tags: [{ Key: 'ropewalk:deployment', Value }] },
    ];
    const run = (changes: object) =>
      new RunInstancesCommand({
        ...{ ImageId: 'ami-0123456789abcdef0', InstanceType: 'm6i.large', SubnetId: 'subnet-us-east-1a' },
        ...{ MinCount: 1, MaxCount: 1, DryRun: true, TagSpecifications: tagged(deployment), ...changes },
      });
    await permit(cloud, [await readControlPolicy()]);
    await expect(ec2.send(run({}))).rejects.toMatchObject({ name: 'DryRunOperation' });
    for (const changes of [
      { TagSpecifications: tagged('d_other') },
      { TagSpecifications: [] },
      { IamInstanceProfile: { Name: 'administrator' } },
    ]) {
      await expect(ec2.send(run(changes))).rejects.toMatchObject({ name: 'UnauthorizedOperation' });
      await expect(ec2.send(run({ ...changes, DryRun: false }))).rejects.toMatchObject({
        name: 'UnauthorizedOperation',
      });
    }
    await expect(
      ec2.send(
        new CreateFleetCommand({
          Type: 'instant',
          LaunchTemplateConfigs: [],
          TargetCapacitySpecification: { TotalTargetCapacity: 1 },
        }),
      ),
    ).rejects.toMatchObject({ name: 'UnauthorizedOperation' });
    expect(await cloud.provider.list(deployment)).toEqual([]);
  });
});

describe('the policy of setup', () => {
  let home: string;
  let mirror: Server;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'ropewalk-permissions-'));
    mirror = createServer((request, response) => {
      const version = request.url?.split('/')[1];
      const lines = ['x64', 'arm64'].map((arch) => `${'a'.repeat(64)}  node-${version}-linux-${arch}.tar.xz\n`);
      response.end(lines.join(''));
    });
    await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    mirror.closeAllConnections();
    mirror.close();
    await rm(home, { recursive: true, force: true });
  });

  async function setup(remove: boolean): Promise<string> {
    const lines: string[] = [];
    const add = (text: string): void => void lines.push(text);
    const port = (mirror.address() as AddressInfo).port;
    await runSetup(
      {
        ...{ env: { ROPEWALK_NODE_MIRROR: `http://127.0.0.1:${port}` }, home, provider: 'aws', deployment, remove },
        ...{ name: 'ropewalk', regions: [], network: null, subnets: [], clientRanges: null },
        ...{
          controlPlaneRole: null,
          project: null,
          bucket: null,
          planOnly: false,
          yes: true,
          format: 'table',
          ask: async () => null,
        },
      },
      { out: add, err: add, json: (value) => add(JSON.stringify(value)) },
    );
    return lines.join('\n');
  }

  it('suffices to prepare an account and to leave it as it was, and for nothing that instances do', async () => {
    const policy = parsePolicy(await readFile(new URL('../../ops/aws/set-up.json', import.meta.url), 'utf8'));
    await permit(cloud, [policy]);
    expect(await setup(false)).toContain('ROPEWALK_AWS_SETTINGS=');
    await expect(cloud.provider.launch(workersRequest(freshOwner(), 1))).resolves.toMatchObject({
      launched: [],
      failures: [{ code: 'UnauthorizedOperation' }],
    });
    expect(await setup(true)).toContain('removed ');
    await permit(cloud, [without(policy, 'iam:TagRole')]);
    expect(await setup(false)).toContain('iam:TagRole');
  });
});
