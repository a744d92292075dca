// EC2's reason for the end of an instance, as a cluster passes it on. Codes and messages: EC2 API, StateReason.
import { expect, it } from 'vitest';

import { wasOrdered, whyEnded } from '../../providers/aws/state-reasons.ts';

const InstanceId = 'i-0123456789abcdef0';
const of = (Code: string, Message?: string) => ({
  InstanceId,
  StateReason: { Code, ...(Message === undefined ? {} : { Message }) },
});

it.each([
  [
    'Client.InstanceInitiatedShutdown',
    'Instance initiated shutdown',
    /powered itself off.*get-console-output --instance-id i-0123456789abcdef0/,
  ],
  ['Client.InternalError', 'Client error on launch', /KMS key.*kms:CreateGrant/],
  ['Client.VolumeLimitExceeded', 'Volume limit exceeded', /Service Quotas/],
  ['Client.InvalidSnapshot.NotFound', 'The specified snapshot was not found', /another image/],
])('%s is passed on with what to do', (code, message, todo) => {
  const why = whyEnded(of(code, `${code}: ${message}`));
  expect(why).toMatch(new RegExp(`^EC2 says ${code}: ${message}\\. `));
  expect(why).toMatch(todo);
  expect(wasOrdered(of(code))).toBe(false);
});

it('names a code that it does not know, once, with its message', () => {
  expect(whyEnded(of('Server.New', 'Something'))).toBe('EC2 says Server.New: Something');
  expect(whyEnded(of('Server.New', 'Server.New: Something'))).toBe('EC2 says Server.New: Something');
  expect(whyEnded(of('Server.New'))).toBe('EC2 says Server.New');
  expect(whyEnded(of('Server.New', 'x'.repeat(10_000)))?.length).toBeLessThan(300);
});

it('says nothing where EC2 says nothing', () => {
  expect(whyEnded({ InstanceId })).toBeNull();
  expect(whyEnded({ InstanceId, StateReason: {} })).toBeNull();
});

it.each(['Client.UserInitiatedShutdown', 'Server.SpotInstanceTermination', 'Server.SpotInstanceShutdown'])(
  '%s is an order',
  (code) => expect(wasOrdered(of(code))).toBe(true),
);
