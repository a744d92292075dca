// Reads the deployment's keys, the text of `keys.json`, from a secret of AWS Secrets Manager, once at process start. Every
// error names the secret and a remedy, never its content.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

import { RopewalkError } from '../domain/errors.ts';
import { parseKeys, type Keys } from './keys.ts';

/**
 * `client` defaults to the SDK's own chain of credentials, in the ARN's region.
 * @throws RopewalkError VALIDATION when the secret holds no keys, FORBIDDEN, NOT_FOUND or UNAVAILABLE when it cannot be read.
 */
export async function loadKeysSecret(arn: string, client = createSecretsClient(arn)): Promise<Keys> {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    return parseKeys(SecretString ?? '', {
      name: `secret ${arn}`,
      hint: `Store the text of keys.json in it: aws secretsmanager put-secret-value --secret-id ${arn} --secret-string file://keys.json`,
    });
  } catch (error) {
    throw error instanceof RopewalkError ? error : explained(error, arn);
  } finally {
    client.destroy();
  }
}

const createSecretsClient = (arn: string): SecretsManagerClient =>
  new SecretsManagerClient({
    region: arn.split(':')[3] ?? '',
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });

/** Errors of Secrets Manager's GetSecretValue, by their SDK names. */
function explained(error: unknown, arn: string): RopewalkError {
  const name = error instanceof Error ? error.name : '';
  if (name === 'AccessDeniedException' || (statusOf(error) === 403 && !badCredentials.includes(name))) {
    return new RopewalkError({
      code: 'FORBIDDEN',
      message: `The credentials of this process must not read the secret ${arn}.`,
      hint: 'They need secretsmanager:GetSecretValue on it, as ops/aws/keys-secret.json has it, and kms:Decrypt where a KMS key of your own encrypts it.',
    });
  }
  if (name === 'DecryptionFailure') {
    return new RopewalkError({
      code: 'FORBIDDEN',
      message: `AWS cannot decrypt the secret ${arn} for this process.`,
      hint: 'Its credentials need kms:Decrypt on the KMS key of the secret, and that key must be enabled.',
    });
  }
  if (name === 'ResourceNotFoundException' || name === 'InvalidRequestException') {
    return new RopewalkError({
      code: 'NOT_FOUND',
      message: `There is no secret ${arn}, it has no value, or it is scheduled for deletion.`,
      hint: 'Correct ROPEWALK_KEYS_SECRET, or restore it: aws secretsmanager restore-secret --secret-id ARN.',
    });
  }
  if (badCredentials.includes(name)) {
    return new RopewalkError({
      code: 'FORBIDDEN',
      message: `AWS does not accept the credentials for the secret ${arn}, or there are none (${name}).`,
      hint: 'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile, or the role of the host, and its clock.',
    });
  }
  return new RopewalkError({
    code: 'UNAVAILABLE',
    message: `AWS Secrets Manager did not give the secret ${arn}: ${name === '' ? 'unknown error' : name}.`,
    hint: 'Check the way from this host to Secrets Manager of its region, or try again.',
  });
}

function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return null;
  const { $metadata } = error;
  if (typeof $metadata !== 'object' || $metadata === null || !('httpStatusCode' in $metadata)) return null;
  return typeof $metadata.httpStatusCode === 'number' ? $metadata.httpStatusCode : null;
}

const badCredentials = [
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'IncompleteSignature',
];
