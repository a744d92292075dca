// The SDK's clients. Launches are never retried by the SDK: it repeats a lack of capacity three times in a tenth of a
// second, and hides from us which try it was. Everything else may be.
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { EC2Client } from '@aws-sdk/client-ec2';
import { SSMClient } from '@aws-sdk/client-ssm';

import { createLacking } from './unavailable.ts';
import type { Lacking } from './unavailable.ts';
import { createLimiter } from './limiter.ts';
import type { Limiter } from './limiter.ts';

export interface AwsClients {
  launching: EC2Client;
  ec2: EC2Client;
  ssm: SSMClient;
  logs: CloudWatchLogsClient;
  limiter: Limiter;
  lacking: Lacking;
}

/** Credentials and endpoints come from where the SDK looks for them: AWS_* variables, profiles, the instance's role. */
export function createAwsClients(region: string, limiter = createLimiter()): AwsClients {
  return {
    launching: new EC2Client({ region, maxAttempts: 1 }),
    ec2: new EC2Client({ region, maxAttempts: 4 }),
    ssm: new SSMClient({ region, maxAttempts: 4 }),
    logs: new CloudWatchLogsClient({ region, maxAttempts: 4 }),
    limiter,
    lacking: createLacking(),
  };
}
