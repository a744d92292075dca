// Who AWS takes us for: the cheapest question that shows whether credentials work, allowed to everybody who has some.
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

export interface Caller {
  account: string;
  arn: string;
}

/** @throws the SDK's error: no credentials were found, or AWS does not take them. */
export async function whoCalls(region: string, signal: AbortSignal): Promise<Caller> {
  const sts = new STSClient({ region, maxAttempts: 2 });
  try {
    const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}), { abortSignal: signal });
    return { account: Account, arn: Arn };
  } finally {
    sts.destroy();
  }
}
