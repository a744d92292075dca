import { AwsError } from './aws-error.ts';
import type { Params } from './params.ts';
import type { EmulatedAccount } from './account.ts';
import { stsAnswer } from './xml.ts';

/** The access key of a session in an account. */
export const sessionKey = (accountId: string): string => `ASIA${accountId}`;

export function callSts(account: EmulatedAccount, params: Params, requestId: string): string {
  const action = params.text('Action') ?? '';
  if (action === 'GetCallerIdentity') {
    return stsAnswer(action, requestId, {
      UserId: 'AIDAEMULATOR',
      Account: account.accountId,
      Arn: `arn:aws:iam::${account.accountId}:user/emulator`,
    });
  }
  if (action === 'AssumeRole') {
    const role = params.text('RoleArn') ?? '';
    const accountId = role.split(':')[4] ?? '';
    const trust = account.trusts.get(role);
    if (accountId !== account.accountId && (trust === undefined || trust.externalId !== params.text('ExternalId'))) {
      const message = `User: arn:aws:iam::${account.accountId}:user/emulator is not authorized to perform: sts:AssumeRole on resource: ${role}`;
      throw new AwsError('AccessDenied', message, 403);
    }
    const session = params.text('RoleSessionName') ?? '';
    return stsAnswer(action, requestId, {
      Credentials: {
        AccessKeyId: sessionKey(accountId),
        SecretAccessKey: 'emulated',
        SessionToken: 'emulated',
        Expiration: new Date(account.clock.nowMs() + 3_600_000).toISOString(),
      },
      AssumedRoleUser: { AssumedRoleId: `AROAEMULATOR:${session}`, Arn: `${role}/${session}` },
    });
  }
  if (action === 'GetSessionToken') {
    const seconds = Number(params.text('DurationSeconds') ?? 43_200);
    return stsAnswer(action, requestId, {
      Credentials: {
        AccessKeyId: `ASIA${requestId.slice(0, 8)}`,
        SecretAccessKey: `session-secret-${requestId}`,
        SessionToken: `session-token-${requestId}`,
        Expiration: new Date(account.clock.nowMs() + seconds * 1000).toISOString(),
      },
    });
  }
  throw new AwsError('InvalidAction', `Could not find operation ${action} for version 2011-06-15`);
}
