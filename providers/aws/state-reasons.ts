// The reason that EC2 reports for an instance's end, with a hint for users. Source: EC2 API, StateReason; EC2 User Guide,
// "Amazon EC2 instance terminates immediately".
import type { Instance } from '@aws-sdk/client-ec2';

/** Codes of TerminateInstances and StopInstances calls, and of spot interruptions. */
const orders = ['Client.UserInitiatedShutdown', 'Server.SpotInstanceTermination', 'Server.SpotInstanceShutdown'];

const hints: Readonly<Record<string, string>> = {
  'Client.InstanceInitiatedShutdown':
    'The machine powered itself off, as it does when its agent cannot start or gives up; for an hour "aws ec2 get-console-output --instance-id ID" shows what it printed',
  'Client.InternalError':
    'Most often its volume is encrypted with a KMS key that the launching role must not use: allow kms:CreateGrant and kms:Decrypt, or choose another key',
  'Client.VolumeLimitExceeded': 'The account has reached its quota for volumes: raise it in Service Quotas',
  'Client.InvalidSnapshot.NotFound': 'A snapshot of its image is missing: configure another image',
};

export const wasOrdered = ({ StateReason }: Instance): boolean => orders.includes(StateReason?.Code ?? '');

/** EC2's reason for an instance that ends or has ended; null without one. */
export function whyEnded({ InstanceId = '', StateReason }: Instance): string | null {
  const { Code: code = '', Message: message = code } = StateReason ?? {};
  if (code === '') return null;
  // The message usually begins with the code.
  const said = message.startsWith(code) ? message : `${code}: ${message}`;
  const hint = hints[code]?.replace('ID', InstanceId);
  return `EC2 says ${said.slice(0, longestMessage)}${hint === undefined ? '' : `. ${hint}`}`;
}

const longestMessage = 200;
