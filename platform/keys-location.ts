// The location of the deployment's keys: a secret of AWS Secrets Manager that the environment names, else `keys.json` in the
// home.
import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';

/** The ARN includes the region. AWS ends each with six random characters, without which a policy covers other secrets as well. */
export const keysSecretArn = z
  .string()
  .regex(
    /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[A-Za-z0-9/_+=.@-]{1,512}$/,
    'must be the ARN of a secret in AWS Secrets Manager',
  );

export const keysSecretExample = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:ropewalk/keys-AbCdEf';

/**
 * For programs that do not validate their whole environment. Null when no secret is named.
 * @throws RopewalkError VALIDATION
 */
export function readKeysSecret(env: Readonly<Record<string, string | undefined>>): string | null {
  const text = env['ROPEWALK_KEYS_SECRET'] ?? '';
  if (text === '') return null;
  const parsed = keysSecretArn.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: 'ROPEWALK_KEYS_SECRET must be the ARN of a secret in AWS Secrets Manager.',
    hint: `For example: ROPEWALK_KEYS_SECRET=${keysSecretExample}`,
  });
}
