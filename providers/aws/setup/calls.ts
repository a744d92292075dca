// Setup's calls to AWS. Most create calls have no idempotency token, so the SDK must not repeat one after a lost answer: it
// could create twice. The command then fails, and the next run finds the resource by its tags.
import { setTimeout as sleep } from 'node:timers/promises';

import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';

import { RopewalkError } from '../../../domain/errors.ts';
import { codeOf, isAnswer, messageOf } from '../sdk-errors.ts';

/** A new resource is not visible everywhere at once. */
const isNotYet = (code: string): boolean => code.endsWith('.NotFound') || code === 'NoSuchEntityException';
const isThrottled = (code: string): boolean => /^(RequestLimitExceeded|Throttling|ThrottlingException)$/.test(code);

export interface Calls {
  ec2: EC2Client;
  iam: IAMClient;
  pauseMs: number;
  signal: AbortSignal;
}

export const changing = (region: string): EC2Client => new EC2Client({ region, maxAttempts: 1 });
export const reading = (region: string): EC2Client => new EC2Client({ region, maxAttempts: 4 });
/** IAM is global, and its names are unique, so a repeated call is harmless. */
export const identity = (): IAMClient => new IAMClient({ region: 'us-east-1', maxAttempts: 4 });

const maxAttempts = 60;

/** Retries a call whose input is not visible yet, or that was throttled. `ignore`: codes that mean it is already done. */
export async function settled<T>(
  { pauseMs, signal }: Pick<Calls, 'pauseMs' | 'signal'>,
  call: () => Promise<T>,
  ignore: readonly string[] = [],
): Promise<T | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const code = codeOf(error);
      if (ignore.includes(code)) return null;
      if (!(isNotYet(code) || isThrottled(code)) || attempt === maxAttempts) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

/** Describes the failed step, AWS's message, and a remedy. */
export function explained(what: string, error: unknown): RopewalkError {
  if (error instanceof RopewalkError) return error;
  const code = codeOf(error);
  return new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: isAnswer(error)
        ? `${what}: AWS answered ${code}: ${messageOf(error)}`
        : `${what}: AWS did not answer: ${messageOf(error)}`,
      hint: hintOf(code),
    },
    { cause: error },
  );
}

function hintOf(code: string): string {
  if (/^(UnauthorizedOperation|AccessDenied|AccessDeniedException)$/.test(code)) {
    return 'Use credentials with the policy ops/aws/set-up.json.';
  }
  if (/LimitExceeded/.test(code)) return 'Raise that quota in the Service Quotas console, or remove what is not used.';
  if (code === 'DependencyViolation' || code === 'DeleteConflictException') {
    return 'Something still uses it: end clusters first, or run ropewalk destroy --by-tag, then run this command again.';
  }
  return 'Run the same command again: it continues with what is missing.';
}
