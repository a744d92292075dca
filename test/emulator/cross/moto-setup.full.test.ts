// The setup of an account against moto, software of other authors: it understands the same calls, finds the resources by the same
// filters, and contains none of them after removal.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DescribeSecurityGroupsCommand, DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { runSetup } from '../../../ops/setup.ts';
import { readAwsSettings } from '../../../providers/aws/settings-file.ts';
import { awsFile } from '../../providers/aws-cloud.ts';
import { type Moto, startMoto } from './moto.ts';

let moto: Moto;
let ec2: EC2Client;
let home: string;
beforeAll(async () => {
  moto = await startMoto();
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIATEST';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  process.env['AWS_ENDPOINT_URL'] = moto.url;
  ec2 = new EC2Client({ region: 'us-east-1', endpoint: moto.url });
  home = await mkdtemp(join(tmpdir(), 'ropewalk-moto-setup-'));
}, 300_000);
afterAll(async () => {
  ec2?.destroy();
  await moto?.stop();
  await rm(home, { recursive: true, force: true });
});

async function setup(remove: boolean): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const code = await runSetup(
    {
      ...{ env: {}, home, provider: 'aws', deployment: 'dep_moto', name: 'ropewalk', regions: ['us-east-1'] },
      ...{
        network: null,
        subnets: [],
        clientRanges: null,
        controlPlaneRole: null,
        project: null,
        bucket: null,
        format: 'table',
      },
      ...{ planOnly: false, yes: true, remove, ask: async () => null },
    },
    { out: say, err: say, json: () => undefined },
  );
  return { code, said: said.join('\n') };
}

it('makes a network in every zone, finds all of it in a second run, and leaves nothing behind', async () => {
  const before = await ec2.send(new DescribeVpcsCommand({}));
  // The file has the checksums of Node: none are fetched.
  await writeFile(join(home, 'aws.json'), JSON.stringify(awsFile));
  const made = await setup(false);
  expect(made).toEqual({ code: 0, said: expect.stringContaining('created vpc ropewalk') });
  const { subnets, securityGroups, instanceProfile } = readAwsSettings(join(home, 'aws.json'));
  expect([new Set(subnets.map(({ zone }) => zone)).size, subnets.length, instanceProfile]).toEqual([6, 6, 'ropewalk']);
  const GroupIds = [securityGroups.cluster, ...securityGroups.scheduler];
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds }));
  const rules = SecurityGroups.map(({ GroupName, IpPermissions = [] }) => [GroupName, IpPermissions.length]);
  expect(Object.fromEntries(rules)).toEqual({ 'ropewalk-cluster': 1, 'ropewalk-scheduler': 1 });

  const again = await setup(false);
  // moto gives service-linked roles other names than AWS: they are reported missing, and accepted as existing.
  expect([again.code, again.said.match(/^ {2}(create|created|change|changed) .*/gm)]).toEqual([
    0,
    ['create', 'create', 'created', 'created'].map((word) => expect.stringContaining(`${word} service-linked role`)),
  ]);
  const removed = await setup(true);
  expect(removed).toEqual({ code: 0, said: expect.stringContaining('deleted vpc ropewalk') });
  expect([(await ec2.send(new DescribeVpcsCommand({}))).Vpcs, existsSync(join(home, 'aws.json'))]).toEqual([
    before.Vpcs,
    false,
  ]);
  expect((await setup(true)).said).toContain('removed 0 resources');
});
