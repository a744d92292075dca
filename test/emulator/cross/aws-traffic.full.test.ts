// Every call of setup and the provider to AWS, against botocore's service models, AWS's own description of its APIs: names,
// types, values, bounds, and required members. The answers are compared in boto3.full.test.ts.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

import { runSetup } from '../../../ops/setup.ts';
import { createAwsProvider } from '../../../providers/aws/provider.ts';
import { awsFile, awsSettings, freshOwner, placement, workersRequest } from '../../providers/aws-cloud.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { crossPython } from './python.ts';

const found = z.object({ called: z.array(z.string()), problems: z.array(z.string()) });
let directory: string;
let emulator: Emulator;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-aws-traffic-'));
  emulator = await startEmulator({ traffic: join(directory, 'traffic') });
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'test' };
  Object.assign(process.env, { AWS_ENDPOINT_URL: emulator.url, ...credentials });
});
afterAll(async () => {
  await emulator.stop();
  await rm(directory, { recursive: true, force: true });
});

async function setup(remove: boolean): Promise<number> {
  const none = { network: null, clientRanges: null, controlPlaneRole: null, project: null, bucket: null };
  const said = { out: () => undefined, err: () => undefined, json: () => undefined };
  const what = { env: {}, home: directory, provider: 'aws', deployment: 'dep_traffic', name: 'ropewalk-traffic' };
  const how = { planOnly: false, yes: true, remove, ask: async () => null, format: 'table' as const };
  return runSetup({ ...none, ...what, ...how, regions: ['us-east-1'], subnets: [] }, said);
}

async function launchAndEnd(): Promise<void> {
  const provider = createAwsProvider({ settings: awsSettings, unseenMs: 1_000 });
  expect(await provider.offers({})).not.toEqual([]);
  const ingress = { scheduler: { port: 8786, from: ['203.0.113.0/24', '2001:db8::/32'] }, ssh: null };
  for (const market of ['spot', 'on-demand'] as const) {
    const owner = freshOwner();
    const worker = placement({ types: ['m6i.large', 'm5.large'], market, diskThroughput: 500 });
    const request = workersRequest(owner, 2, undefined, worker);
    const slots = [...request.slots, { slot: 3, generation: 1, role: 'head' as const }];
    const asked = { ...request, slots, placement: { head: placement(), worker, oneZone: true, ingress } };
    const denied = { action: 'CreateFleet', kind: 'error', code: 'UnauthorizedOperation', status: 403 } as const;
    // RunInstances then launches them.
    if (market === 'on-demand') await emulator.send({ op: 'fault', fault: { ...denied, times: 9 } });
    const { launched } = await provider.launch(asked);
    expect(launched).toHaveLength(3);
    const ids = launched.map(({ id }) => id);
    await provider.describe(owner, ids);
    await provider.list(owner.deploymentId);
    for await (const _line of provider.logs({ owner })) throw new Error('nothing was written');
    await provider.listResources?.(owner.deploymentId);
    await provider.terminate(owner, ids, AbortSignal.timeout(60_000));
    await provider.release?.(owner, AbortSignal.timeout(60_000));
  }
}

async function compared(file: string): Promise<z.infer<typeof found>> {
  const script = join(import.meta.dirname, 'aws_traffic.py');
  const { stdout } = await promisify(execFile)(await crossPython(), [script, join(directory, file)]);
  return found.parse(JSON.parse(stdout));
}

it('has nothing that AWS does not describe', { timeout: 600_000 }, async () => {
  await writeFile(join(directory, 'aws.json'), JSON.stringify(awsFile));
  expect([await setup(false), await setup(false), await setup(true)]).toEqual([0, 0, 0]);
  await launchAndEnd();
  const { called, problems } = await compared('traffic');
  expect(problems).toEqual([]);
  expect(called).toEqual(
    expect.arrayContaining([
      ...['ec2:CreateFleet', 'ec2:RunInstances', 'ec2:CreateLaunchTemplate', 'ec2:AuthorizeSecurityGroupIngress'],
      ...['ec2:TerminateInstances', 'ec2:DescribeSpotPriceHistory', 'ec2:DescribeInstanceTypeOfferings'],
      ...['ssm:GetParameter', 'logs:FilterLogEvents', 'iam:CreatePolicy', 'iam:PutRolePolicy', 'ec2:CreateVpc'],
    ]),
  );
  expect(called.length).toBeGreaterThanOrEqual(50);
});

it('finds a name, a value and a bound that AWS does not have', { timeout: 600_000 }, async () => {
  const calls = [
    {
      service: 'ec2',
      action: 'CreateFleet',
      body: 'Type=once&Colour=red&TargetCapacitySpecification.TotalTargetCapacity=x',
    },
    { service: 'ec2', action: 'DescribeInstanceTypes', body: 'MaxResults=101&Filter.1.Nom=a' },
    { service: 'logs', action: 'FilterLogEvents', body: JSON.stringify({ limit: 20_000, logGroup: 'a' }) },
  ];
  await writeFile(join(directory, 'wrong'), calls.map((call) => JSON.stringify(call)).join('\n'));
  expect((await compared('wrong')).problems).toEqual([
    'CreateFleet has no Colour',
    'CreateFleet lacks LaunchTemplateConfigs',
    'CreateFleet.TargetCapacitySpecification.TotalTargetCapacity is not a integer',
    'CreateFleet.Type: once is none of its values',
    'DescribeInstanceTypes.Filter[] has no Nom',
    'DescribeInstanceTypes.MaxResults is not within its bounds',
    'FilterLogEvents has no logGroup',
    'FilterLogEvents.limit is not within its bounds',
  ]);
});
