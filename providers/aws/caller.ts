// The identity of this process's credentials. GetCallerIdentity is the cheapest request that verifies credentials, and every
// identity may call it.
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

export interface Caller {
  account: string;
  arn: string;
}

/** @throws the SDK's error: it found no credentials, or AWS does not accept them. */
export async function whoCalls(region: string, signal: AbortSignal): Promise<Caller> {
  const sts = new STSClient({ region, maxAttempts: 2 });
  try {
    const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}), { abortSignal: signal });
    return { account: Account, arn: Arn };
  } finally {
    sts.destroy();
  }
}
