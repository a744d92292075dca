// The AWS credentials of this machine as a session of STS, for the tasks of a job. A long-lived key is never sent.
import type { CliContext } from './context.ts';
import { CommandError, UsageError } from './errors.ts';

export interface AwsSession {
  /** The environment variables of the AWS SDKs. */
  variables: Record<string, string>;
  /** Null when this machine does not know it. */
  expiresAt: Date | null;
}

const option = '--forward-aws-credentials';
/** Limits the search for credentials: outside AWS the metadata service does not answer. */
const searchMs = 20_000;

/** Refuses variables that the session would replace. */
export function refuseOwnCredentials(given: Readonly<Record<string, string>>): void {
  const own = Object.keys(given).find((name) => /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)$/.test(name));
  if (own !== undefined) throw new UsageError(`${option} and the variable ${own} both give credentials: leave one out`);
}

/** @throws CommandError when AWS finds no credentials here, or does not accept them. */
export async function readAwsSession({ env }: Pick<CliContext, 'env'>): Promise<AwsSession> {
  const { GetSessionTokenCommand, STSClient } = await import('@aws-sdk/client-sts');
  const sts = new STSClient({ region: env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1', maxAttempts: 3 });
  try {
    const own = await sts.config.credentials();
    // STS creates no session from a session.
    if (own.sessionToken !== undefined)
      return sessionOf(own.accessKeyId, own.secretAccessKey, own.sessionToken, own.expiration);
    const abortSignal = AbortSignal.timeout(searchMs);
    const { Credentials: made } = await sts.send(new GetSessionTokenCommand({}), { abortSignal });
    if (made?.AccessKeyId === undefined || made.SecretAccessKey === undefined || made.SessionToken === undefined)
      throw new Error('STS answered without credentials');
    return sessionOf(made.AccessKeyId, made.SecretAccessKey, made.SessionToken, made.Expiration);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `${option}: the AWS credentials of this machine cannot be used: ${reason}`,
      'Sign in to AWS on this machine, or choose another profile with AWS_PROFILE.',
    );
  } finally {
    sts.destroy();
  }
}

/** Describes the tasks' credentials to the user: they are not renewed. */
export const describeSession = ({ expiresAt }: AwsSession): string =>
  expiresAt === null
    ? 'The tasks have AWS credentials of this machine until these expire.'
    : `The tasks have AWS credentials of this machine until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`;

function sessionOf(key: string, secret: string, token: string, expiration: Date | undefined): AwsSession {
  const expiresAt = expiration ?? null;
  return {
    variables: {
      AWS_ACCESS_KEY_ID: key,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_SESSION_TOKEN: token,
      ...(expiresAt !== null && { AWS_CREDENTIAL_EXPIRATION: expiresAt.toISOString() }),
    },
    expiresAt,
  };
}
