// `ropewalk setup aws` against the emulated account: it creates the provider's resources once, however often it is interrupted,
// and deletes exactly those.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CreateVpcCommand,
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  type EC2Client,
} from '@aws-sdk/client-ec2';
import { CreateRoleCommand, GetRolePolicyCommand, IAMClient, ListRolePoliciesCommand } from '@aws-sdk/client-iam';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runQuotas, runSetup, type SetupOptions } from '../../ops/setup.ts';
import { createAwsTerminator } from '../../providers/aws/from-settings.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { controlPlanePolicy } from '../../providers/aws/setup/policies.ts';
import { readAwsRegions, readAwsSettings } from '../../providers/aws/settings-file.ts';
import { clientOf } from '../emulator/client.ts';
import { awsSettings, freshOwner, startCloud, type TestCloud, workersRequest } from './aws-cloud.ts';

const deployment = 'dep_setup';
const hash = 'a'.repeat(64);

describe('the setup of an AWS account', () => {
  let cloud: TestCloud;
  let ec2: EC2Client;
  let iam: IAMClient;
  let home: string;
  let mirror: Server;
  beforeAll(async () => {
    cloud = await startCloud();
    ec2 = clientOf(cloud.emulator);
    iam = new IAMClient({ region: 'us-east-1', endpoint: cloud.emulator.url, maxAttempts: 1 });
    home = await mkdtemp(join(tmpdir(), 'ropewalk-setup-'));
    mirror = createServer((request, response) => {
      const version = request.url?.split('/')[1];
      const archives = ['linux-x64', 'linux-arm64'];
      response.end(archives.map((archive) => `${hash}  node-${version}-${archive}.tar.xz\n`).join(''));
    });
    await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    mirror.closeAllConnections();
    mirror.close();
    ec2.destroy();
    iam.destroy();
    await cloud.close();
    await rm(home, { recursive: true, force: true });
  });

  const settings = (): string => join(home, 'aws.json');
  async function setup(changes: Partial<SetupOptions> = {}): Promise<{ code: number; out: string; err: string }> {
    const [out, err]: [string[], string[]] = [[], []];
    const port = (mirror.address() as AddressInfo).port;
    const code = await runSetup(
      {
        ...{ env: { ROPEWALK_NODE_MIRROR: `http://127.0.0.1:${port}` }, home, provider: 'aws', deployment },
        ...{ name: 'ropewalk-test', regions: [], network: null, subnets: [], clientRanges: null },
        ...{
          controlPlaneRole: null,
          project: null,
          bucket: null,
          planOnly: false,
          remove: false,
          yes: true,
          format: 'table',
        },
        ask: async () => null,
        ...changes,
      },
      {
        out: (text) => out.push(text),
        err: (text) => err.push(text),
        json: (value) => out.push(JSON.stringify(value)),
      },
    );
    return { code, out: out.join('\n'), err: err.join('\n') };
  }
  /** How many of each resource carry the deployment's tag. */
  async function own(): Promise<number[]> {
    const Filters = [{ Name: 'tag:ropewalk:deployment', Values: [deployment] }];
    const lists = await Promise.all([
      ec2.send(new DescribeVpcsCommand({ Filters })).then(({ Vpcs }) => Vpcs),
      ec2.send(new DescribeInternetGatewaysCommand({ Filters })).then((answer) => answer.InternetGateways),
      ec2.send(new DescribeRouteTablesCommand({ Filters })).then(({ RouteTables }) => RouteTables),
      ec2.send(new DescribeSubnetsCommand({ Filters })).then(({ Subnets }) => Subnets),
      ec2.send(new DescribeSecurityGroupsCommand({ Filters })).then(({ SecurityGroups }) => SecurityGroups),
    ]);
    return lists.map((list) => list?.length ?? 0);
  }
  const complete = [1, 1, 1, 3, 2];
  const nothing = [0, 0, 0, 0, 0];

  it('shows its plan, changes nothing without a yes, and then makes an account in which instances launch', async () => {
    const plan = await setup({ planOnly: true });
    expect(plan.code).toBe(0);
    expect(plan.out).toContain('  create vpc ropewalk-test, us-east-1: 10.0.0.0/16\n');
    expect(plan.out).toContain('  create subnet ropewalk-test-us-east-1c, us-east-1: 10.0.32.0/20\n');
    expect(plan.out).toContain('allow tcp 8786 from 0.0.0.0/0');
    const asked = await setup({ yes: false });
    expect([asked.code, asked.err, await own()]).toEqual([1, expect.stringContaining('nothing was changed'), nothing]);

    const made = await setup();
    expect([made.code, await own()]).toEqual([0, complete]);
    expect(made.out).toContain(`ROPEWALK_AWS_SETTINGS=${settings()}`);
    const file = readAwsSettings(settings());
    expect(file).toMatchObject({ region: 'us-east-1', instanceProfile: 'ropewalk-test', assignPublicIps: true });
    expect(file.subnets.map(({ zone }) => zone)).toEqual(['us-east-1a', 'us-east-1b', 'us-east-1c']);
    expect(file.node.arm64.sha256).toBe(hash);
    expect(file.gpuImage).toMatch(/^\/aws\/service\/deeplearning\/ami\/.*nvidia-driver/);
    const role = { RoleName: 'ropewalk-test' };
    const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand(role));
    const inline = await iam.send(new GetRolePolicyCommand({ ...role, PolicyName: PolicyNames[0] }));
    expect(decodeURIComponent(inline.PolicyDocument ?? '')).toContain('logs:PutLogEvents');

    const again = await setup();
    expect([again.code, again.out, again.err]).toEqual([0, expect.stringContaining('\nnothing to change;'), '']);

    const { node: _node, apiCa: _apiCa, ...place } = file;
    const provider = createAwsProvider({ settings: { ...awsSettings, ...place }, unseenMs: 1_000 });
    const owner = { ...freshOwner(), deploymentId: deployment };
    const { launched } = await provider.launch(workersRequest(owner, 2));
    expect(launched).toHaveLength(2);
    const refused = await setup({ remove: true });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Nothing was removed')]);
    await createAwsTerminator(file).terminate(
      owner,
      launched.map(({ id }) => id),
      AbortSignal.timeout(60_000),
    );
    const removed = await setup({ remove: true });
    expect([removed.code, await own(), existsSync(settings())]).toEqual([0, nothing, false]);
    await expect(iam.send(new ListRolePoliciesCommand(role))).rejects.toMatchObject({ name: 'NoSuchEntityException' });
    expect((await setup({ remove: true })).out).toContain('removed 0 resources');
  });

  it.each([
    ...['CreateVpc', 'ModifyVpcAttribute', 'CreateInternetGateway', 'AttachInternetGateway', 'CreateRouteTable'],
    ...['CreateRoute', 'CreateSubnet', 'AssociateRouteTable', 'CreateSecurityGroup', 'AuthorizeSecurityGroupIngress'],
    ...['CreateRole', 'PutRolePolicy', 'CreateInstanceProfile', 'AddRoleToInstanceProfile', 'CreatePolicy'],
  ])(
    'makes everything once when the answer to %s is lost, and removes it when answers are lost too',
    async (action) => {
      await cloud.emulator.send({ op: 'fault', fault: { action, kind: 'lost' } });
      const first = await setup();
      const second = await setup();
      expect([first.code === 0 || first.err.includes('Run the same command again'), second.code]).toEqual([true, 0]);
      expect([await own(), (await setup()).out]).toEqual([complete, expect.stringContaining('nothing to change')]);
      const undone = undoing[action];
      if (undone !== undefined) await cloud.emulator.send({ op: 'fault', fault: { action: undone, kind: 'lost' } });
      await setup({ remove: true });
      expect([(await setup({ remove: true })).code, await own()]).toEqual([0, nothing]);
    },
  );
  const undoing: Record<string, string> = {
    CreateVpc: 'DeleteVpc',
    CreateInternetGateway: 'DeleteInternetGateway',
    AttachInternetGateway: 'DetachInternetGateway',
    CreateRouteTable: 'DeleteRouteTable',
    CreateSubnet: 'DeleteSubnet',
    AssociateRouteTable: 'DisassociateRouteTable',
    CreateSecurityGroup: 'DeleteSecurityGroup',
    CreateRole: 'DeleteRole',
    PutRolePolicy: 'DeleteRolePolicy',
    CreateInstanceProfile: 'DeleteInstanceProfile',
    AddRoleToInstanceProfile: 'RemoveRoleFromInstanceProfile',
    CreatePolicy: 'DeletePolicy',
  };

  it('names the call that fails, what AWS said, and what to do', async () => {
    const fault = { action: 'CreateSubnet', kind: 'error', code: 'UnauthorizedOperation', status: 403 } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    const { code, err } = await setup();
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /create subnet ropewalk-test-us-east-1a in us-east-1: AWS answered UnauthorizedOperation[^]*set-up\.json/,
      ),
    ]);
    expect((await setup({ remove: true })).code).toBe(0);
  });

  it('prepares several regions in one file, and removes one without the role of the other', async () => {
    expect((await setup({ regions: ['us-east-1', 'us-west-2'] })).code).toBe(0);
    expect(readAwsRegions(settings()).regions.map(({ region }) => region)).toEqual(['us-east-1', 'us-west-2']);
    expect((await setup({ remove: true, regions: ['us-east-1'] })).code).toBe(0);
    expect([readAwsRegions(settings()).regions.map(({ region }) => region), await own()]).toEqual([
      ['us-west-2'],
      nothing,
    ]);
    await expect(iam.send(new ListRolePoliciesCommand({ RoleName: 'ropewalk-test' }))).resolves.toBeDefined();
    expect((await setup({ remove: true })).code).toBe(0);
    expect(existsSync(settings())).toBe(false);
  });

  it('uses a network that exists, narrows who may connect, and leaves that network when it is removed', async () => {
    const given = { network: 'vpc-us-east-1', subnets: ['subnet-us-east-1b'] };
    expect((await setup({ ...given, clientRanges: ['203.0.113.0/24'] })).code).toBe(0);
    expect(readAwsSettings(settings()).subnets).toEqual([{ id: 'subnet-us-east-1b', zone: 'us-east-1b' }]);
    expect(await own()).toEqual([0, 0, 0, 0, 2]);
    const wider = await setup({ ...given, clientRanges: ['198.51.100.0/24', '2001:db8::/32'] });
    expect(wider.err.match(/changed .*/g)).toEqual([
      expect.stringContaining('allow tcp 8786 from 198.51.100.0/24'),
      expect.stringContaining('allow tcp 8786 from 2001:db8::/32'),
      expect.stringContaining('revoke tcp 8786 from 203.0.113.0/24'),
    ]);
    // EC2 clears the bits behind a prefix: the rules of both runs are the same.
    const mine = { ...given, clientRanges: ['198.51.100.7/24', '203.0.113.9'] };
    expect((await setup(mine)).err).toContain('allow tcp 8786 from 203.0.113.9/32');
    expect((await setup(mine)).out).toContain('nothing to change');
    expect((await setup({ ...given, clientRanges: ['300.0.0.0/8'] })).err).toContain(
      '--client-range 300.0.0.0/8 is not',
    );
    expect((await setup({ ...given, subnets: ['subnet-other'] })).err).toContain('has no subnet subnet-other');
    const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: '10.9.0.0/16' }));
    expect((await setup({ network: Vpc?.VpcId ?? '' })).err).toContain('has no subnet');
    expect((await setup({ remove: true })).code).toBe(0);
    expect((await ec2.send(new DescribeSubnetsCommand({}))).Subnets).toHaveLength(3);
  });

  it('touches no role that it did not make, and limits the policy of the control plane to this deployment', async () => {
    await iam.send(new CreateRoleCommand({ RoleName: 'theirs', AssumeRolePolicyDocument: '{}' }));
    const { code, err } = await setup({ name: 'theirs' });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/role theirs that this deployment did not create[^]*--name/),
    ]);
    expect((await setup({ name: 'theirs', remove: true })).code).toBe(1);
    expect((await setup({ controlPlaneRole: 'absent' })).err).toContain('no role absent');
    const policy = await controlPlanePolicy({ account: '123456789012', role: 'mine', deploymentId: 'dep_mine' });
    // IAM's bound of a managed policy is 6,144.
    expect(policy.length).toBeLessThan(6_000);
    expect(policy).toContain('["arn:aws:iam::123456789012:role/mine","arn:aws:iam::123456789012:role/mine-*"]');
    expect(policy.match(/"aws:(Request|Resource)Tag\/ropewalk:deployment":"[^"]*"/g)).toEqual([
      ...['Request', 'Request', 'Resource'].map((of) => `"aws:${of}Tag/ropewalk:deployment":"dep_mine"`),
    ]);
    expect(await own()).toEqual(nothing);
  });

  it('shows quotas of vCPUs, and asks for more once', async () => {
    const lines: string[] = [];
    const quotas = (request: number | null): Promise<number> =>
      runQuotas(
        { env: {}, home, provider: 'aws', regions: [], project: null, format: 'table', request },
        { out: (text) => lines.push(text), err: (text) => lines.push(text), json: () => undefined },
      );
    expect([await quotas(null), await quotas(256), await quotas(256)]).toEqual([0, 0, 0]);
    expect(lines.filter((line) => line.includes('L-1216C47A'))).toEqual([
      'us-east-1  L-1216C47A  standard families, on demand: 5 vCPUs',
      'us-east-1  L-1216C47A  standard families, on demand: 5 vCPUs, 256 requested now',
      'us-east-1  L-1216C47A  standard families, on demand: 5 vCPUs, 256 requested before, not granted yet',
    ]);
    expect(lines.filter((line) => line.includes('GPU') && line.includes('requested'))).toEqual([]);
  });
});
