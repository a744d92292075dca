// moto, an emulated AWS by other authors, as a separate process that tests end. It is more lenient than EC2 and has gaps: a
// second opinion on Ropewalk's calls, and never the test of failures.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { DescribeSecurityGroupsCommand, DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';

import type { AwsSettings } from '../../../providers/aws/settings.ts';
import { crossPython } from './python.ts';

export interface Moto {
  url: string;
  stop(): Promise<void>;
}

export async function startMoto(): Promise<Moto> {
  const child = spawn(await crossPython(), ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  // It prints its address, and then each request.
  const { promise: said, resolve } = Promise.withResolvers<string | null>();
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    const found = /Running on (http:\/\/[\d.]+:\d+)/.exec(line);
    if (found !== null) resolve(found[1] ?? null);
  });
  void ended.then(() => resolve(null));
  const url = await said;
  if (url === null) throw new Error('moto ended before it said where it listens.');
  return { url, stop };
}

/** The network that an account has from the start. */
export async function defaultNetwork(
  endpoint: string,
  region: string,
): Promise<Pick<AwsSettings, 'subnets' | 'securityGroups'>> {
  const ec2 = new EC2Client({ endpoint, region });
  try {
    const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
    const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({}));
    const subnets = Subnets.map(({ SubnetId = '', AvailabilityZone = '' }) => ({
      id: SubnetId,
      zone: AvailabilityZone,
    }));
    return { subnets, securityGroups: { cluster: SecurityGroups[0]?.GroupId ?? '', scheduler: [] } };
  } finally {
    ec2.destroy();
  }
}
