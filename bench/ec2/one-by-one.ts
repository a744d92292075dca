// One RunInstances for each worker, as dask-cloudprovider launches: against the same emulated EC2, without any of our code.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { EC2Client, RunInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';

const atATime = 50;
/** Pause after a throttled call: long enough that the launch ends, and its time can be measured. */
const pauseMs = 1_000;

export interface OneByOne {
  seconds: number;
  calls: number;
  throttled: number;
}

/** Terminates the launched instances. */
export async function launchOneByOne(endpoint: string, workers: number): Promise<OneByOne> {
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'test' };
  const ec2 = new EC2Client({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  const ids: string[] = [];
  const found = { calls: 0, throttled: 0 };
  const one = async (): Promise<string> => {
    const ClientToken = randomUUID();
    for (;;) {
      try {
        found.calls += 1;
        const command = new RunInstancesCommand({ ...machine, ClientToken, MinCount: 1, MaxCount: 1 });
        const { Instances } = await ec2.send(command);
        return Instances?.[0]?.InstanceId ?? '';
      } catch (error) {
        if (!(error instanceof Error) || !tryAgain.has(error.name)) throw error;
        if (error.name === 'RequestLimitExceeded') found.throttled += 1;
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    }
  };
  const startedAtMs = performance.now();
  let left = workers;
  const several = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      ids.push(await one());
    }
  };
  await Promise.all(Array.from({ length: atATime }, several));
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }));
  ec2.destroy();
  return { seconds, ...found };
}

/** A kept-alive connection may end just then: the same token finds that call's result. */
const tryAgain = new Set(['RequestLimitExceeded', 'TimeoutError']);

const machine = {
  ImageId: 'ami-0123456789abcdef0',
  InstanceType: 'm6i.large',
  SubnetId: 'subnet-us-east-1a',
  UserData: Buffer.from('#!/bin/sh\n').toString('base64'),
} as const;
