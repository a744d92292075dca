// The SDK's clients. The SDK retries every call except launches: it would repeat a launch without capacity three times within
// 0.1 s, and hide which attempt was answered.
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { EC2Client } from '@aws-sdk/client-ec2';
import { SSMClient } from '@aws-sdk/client-ssm';

import { assumeRole, type AssumedRole } from './assume-role.ts';
import { createLimiter } from './limiter.ts';
import type { Limiter } from './limiter.ts';
import { createUnavailableOfferings } from './unavailable.ts';
import type { UnavailableOfferings } from './unavailable.ts';

export interface AwsClients {
  launching: EC2Client;
  ec2: EC2Client;
  ssm: SSMClient;
  logs: CloudWatchLogsClient;
  limiter: Limiter;
  unavailable: UnavailableOfferings;
}

/**
 * The SDK finds credentials and endpoints by itself: AWS_* variables, profiles, the instance's role. With `role`, it assumes
 * that role of another account.
 */
export function createAwsClients(
  region: string,
  limiter = createLimiter(),
  role: AssumedRole | null = null,
): AwsClients {
  const of = role === null ? { region } : { region, credentials: assumeRole(region, role) };
  return {
    launching: new EC2Client({ ...of, maxAttempts: 1 }),
    ec2: new EC2Client({ ...of, maxAttempts: 4 }),
    ssm: new SSMClient({ ...of, maxAttempts: 4 }),
    logs: new CloudWatchLogsClient({ ...of, maxAttempts: 4 }),
    limiter,
    unavailable: createUnavailableOfferings(),
  };
}

export function destroyClients({ launching, ec2, ssm, logs }: AwsClients): void {
  for (const client of [launching, ec2, ssm, logs]) client.destroy();
}
