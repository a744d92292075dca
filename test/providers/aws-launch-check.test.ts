// The checks of `ropewalk doctor` on EC2 ahead of a user's launch: a dry run of the real launch in each subnet, and the download
// of the agent.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CreateSecurityGroupCommand, CreateVpcCommand } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { agentCheck } from '../../providers/agent-check.ts';
import { tryLaunch } from '../../providers/aws/launch-check.ts';
import { checkSubnets } from '../../providers/aws/subnet-check.ts';
import { describeQuotas } from '../../providers/aws/quotas.ts';
import type { AwsFile } from '../../providers/aws/settings-file.ts';
import { clientOf } from '../emulator/client.ts';
import { awsFile, startCloud, type TestCloud } from './aws-cloud.ts';

describe('a trial launch', () => {
  let cloud: TestCloud;
  beforeAll(async () => void (cloud = await startCloud()));
  afterAll(() => cloud.close());

  const attempt = (changes: Partial<AwsFile> = {}): Promise<string> =>
    tryLaunch(
      { ...awsFile, ...changes },
      { deploymentId: 'd_trial', apiUrl: 'https://ropewalk.example' },
      AbortSignal.timeout(60_000),
    );

  it('asks EC2 in every subnet, with a GPU where an image has a driver, and launches nothing', async () => {
    expect(await attempt()).toBe('EC2 would launch m6i.xlarge in us-east-1a, us-east-1b, us-east-1c');
    const gpuImage = 'ami-0123456789abcdef0';
    expect(await attempt({ gpuImage })).toBe(
      'EC2 would launch m6i.xlarge and g4dn.xlarge in us-east-1a, us-east-1b, us-east-1c',
    );
    expect((await cloud.emulator.counts()).calls['RunInstances']).toBe(7);
    expect(await cloud.emulator.instances()).toEqual([]);
    // A new account has no quota for GPUs. The fourth launch is the one with a GPU.
    const code = 'VcpuLimitExceeded';
    const fault = { action: 'RunInstances', nth: 4, times: 1, kind: 'error', code, status: 400 } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    expect(await attempt({ gpuImage })).toContain('EC2 would launch');
  });

  it('finds subnets that are in other zones than the settings say, which a dry run does not', async () => {
    const check = (changes: Partial<AwsFile> = {}) =>
      checkSubnets({ ...awsFile, ...changes }, AbortSignal.timeout(60_000));
    expect(await check()).toBe('3 subnets in us-east-1a, us-east-1b, us-east-1c');
    const swapped = [{ id: 'subnet-us-east-1a', zone: 'us-east-1b' }];
    expect(await attempt({ subnets: swapped })).toContain('EC2 would launch');
    await expect(check({ subnets: swapped })).rejects.toThrow(
      'The subnet subnet-us-east-1a is in us-east-1a, and the settings say us-east-1b.',
    );
    await expect(check({ workerSubnets: swapped })).rejects.toMatchObject({ problem: { code: 'VALIDATION' } });
    await expect(check({ subnets: [{ id: 'subnet-gone', zone: 'us-east-1a' }] })).rejects.toThrow(
      'EC2 has no subnet subnet-gone in us-east-1.',
    );
    const fault = { action: 'DescribeSubnets', kind: 'error', code: 'UnauthorizedOperation', status: 403 } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    await expect(check()).rejects.toMatchObject({
      problem: { code: 'UNAVAILABLE', hint: expect.stringContaining('ec2:DescribeSubnets') },
    });
    await cloud.emulator.send({ op: 'clearFaults' });
  });

  it('stands beside the quotas of the account', async () => {
    const quotas = () => describeQuotas('us-east-1', AbortSignal.timeout(60_000));
    // A new account, which has no quota even for a cluster of one worker.
    expect(await quotas()).toEqual({
      text: expect.stringMatching(
        /^vCPUs at the same time: standard families, on demand 5; standard families, spot \d+; G and VT/,
      ),
      hint: expect.stringContaining('ropewalk setup aws --region us-east-1 --quotas --request 256'),
    });
    await cloud.emulator.send({ op: 'quota', region: 'us-east-1', pool: 'standard/on-demand', vcpus: 640 });
    expect(await quotas()).toContain('standard families, on demand 640;');
    const fault = {
      action: 'GetServiceQuota',
      times: 4,
      kind: 'error' as const,
      code: 'AccessDeniedException',
      status: 400,
    };
    await cloud.emulator.send({ op: 'fault', fault });
    await expect(quotas()).rejects.toMatchObject({
      problem: {
        message: expect.stringContaining('AccessDeniedException'),
        hint: expect.stringContaining('control-plane.json'),
      },
    });
    await cloud.emulator.send({ op: 'clearFaults' });
  });

  it('names what is missing, and the command that makes it', async () => {
    const setup = 'ropewalk setup aws --region us-east-1';
    const failure = async (changes: Partial<AwsFile>): Promise<{ message: string; hint: string | undefined }> => {
      const problem: unknown = await attempt(changes).then(
        () => null,
        (error: unknown) => error,
      );
      return (problem as { problem: { message: string; hint?: string } }).problem as { message: string; hint: string };
    };
    const expected = (message: string, hint: string) => ({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
    expect(await failure({ subnets: [{ id: 'subnet-gone', zone: 'us-east-1a' }] })).toMatchObject(
      expected('us-east-1a (subnet-gone): InvalidSubnetID.NotFound', setup),
    );
    expect(await failure({ securityGroups: { cluster: 'sg-gone', scheduler: [] } })).toMatchObject(
      expected('InvalidGroup.NotFound', setup),
    );
    expect(await failure({ instanceProfile: 'gone' })).toMatchObject(
      expected('Invalid IAM Instance Profile name', setup),
    );
    expect(await failure({ workspaceProfiles: { research: 'theirs' } })).toMatchObject(
      expected('Invalid IAM Instance Profile name', 'Create the instance profile theirs'),
    );
    expect(await failure({ gpuImage: '/aws/service/deeplearning/ami/gone' })).toMatchObject(
      expected('ParameterNotFound', 'gpuImage'),
    );
    const ec2 = clientOf(cloud.emulator);
    const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: '10.9.0.0/16' }));
    const group = { GroupName: 'elsewhere', Description: 'elsewhere', VpcId: Vpc?.VpcId };
    const { GroupId = '' } = await ec2.send(new CreateSecurityGroupCommand(group));
    ec2.destroy();
    expect(await failure({ securityGroups: { cluster: GroupId, scheduler: [] } })).toMatchObject(
      expected('belong to different networks', setup),
    );
    const fault = { action: 'RunInstances', kind: 'error', code: 'UnauthorizedOperation', status: 403 } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    expect(await failure({})).toMatchObject(expected('UnauthorizedOperation', '--control-plane-role'));
  });
});

describe('the agent of instances', () => {
  let directory: string;
  let bundle: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ropewalk-agent-check-'));
    bundle = join(directory, 'agent.mjs');
    await writeFile(bundle, 'the agent');
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('is the file that the API serves under its hash, or doctor says which of the two is wrong', async () => {
    const served = { status: 200, text: 'the agent' };
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(served.status).end(served.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ROPEWALK_API_URL: apiUrl, ROPEWALK_AGENT_BUNDLE: bundle };
    const check = () => agentCheck('aws', env, null).run(AbortSignal.timeout(30_000), 'd');
    expect(await check()).toBe(`${apiUrl} serves this agent`);
    expect(paths).toEqual([`/v1/agent/program/${createHash('sha256').update('the agent').digest('hex')}`]);
    served.text = 'another agent';
    await expect(check()).rejects.toThrow('answered 200 with another file');
    served.status = 404;
    await expect(check()).rejects.toThrow('answered 404: instances of this Temporal worker could not start');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(check()).rejects.toThrow('ECONNREFUSED');
    const untried = agentCheck('aws', { ROPEWALK_API_URL: apiUrl }, null).run(AbortSignal.timeout(30_000), 'd');
    expect(await untried).toMatchObject({ text: 'not tried: ROPEWALK_AGENT_BUNDLE is not set here' });
  });
});
