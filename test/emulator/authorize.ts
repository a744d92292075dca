// Refuses calls that the caller's policies do not allow, with each service's own message: before the operation, also for a dry run.
import { AwsError } from './aws-error.ts';
import { needsOf } from './needs.ts';
import { allows } from './policy.ts';
import type { Asking } from './resource-needs.ts';

/** @throws AwsError for the first missing permission, named in the message as AWS names it. */
export function authorize(accessKeyId: string, asking: Asking): void {
  const policies = asking.account.permissions.get(accessKeyId);
  if (policies === undefined) return;
  const missing = needsOf(asking).find((need) => !allows(policies, need));
  if (missing === undefined) return;
  const message =
    `User: arn:aws:iam::${asking.account.accountId}:user/${accessKeyId} is not authorized to perform: ${missing.action} ` +
    `on resource: ${missing.arn} because no identity-based policy allows the ${missing.action} action`;
  if (asking.service === 'ec2') {
    throw new AwsError('UnauthorizedOperation', `You are not authorized to perform this operation. ${message}`, 403);
  }
  if (asking.service === 'iam' || asking.service === 'sts') throw new AwsError('AccessDenied', message, 403);
  throw new AwsError('AccessDeniedException', message, 400);
}
