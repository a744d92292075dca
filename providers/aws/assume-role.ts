// Temporary credentials of another account's role, which trusts the control plane's account and requires an external id. The id
// prevents other users of this control plane from claiming the role as theirs. Credentials last an hour; the SDK renews them
// before they expire.
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';

import { RopewalkError } from '../../domain/errors.ts';
import { codeOf, messageOf } from './sdk-errors.ts';

export interface AssumedRole {
  roleArn: string;
  externalId: string;
}

export interface RoleCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

const hourSeconds = 3_600;

/** A credential provider for the SDK. */
export const assumeRole =
  (region: string, { roleArn, externalId }: AssumedRole) =>
  async (): Promise<RoleCredentials> => {
    const sts = new STSClient({ region, maxAttempts: 4 });
    const names = { RoleArn: roleArn, RoleSessionName: 'ropewalk', ExternalId: externalId };
    try {
      const { Credentials } = await sts.send(new AssumeRoleCommand({ ...names, DurationSeconds: hourSeconds }));
      const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '', Expiration = new Date() } = Credentials ?? {};
      return {
        ...{ accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey },
        ...{ sessionToken: SessionToken, expiration: Expiration },
      };
    } catch (error) {
      if (codeOf(error) !== 'AccessDenied') throw error;
      throw new RevokedRole(roleArn, messageOf(error), error);
    } finally {
      sts.destroy();
    }
  };

class RevokedRole extends RopewalkError {
  constructor(roleArn: string, said: string, cause: unknown) {
    const problem = {
      code: 'UNAVAILABLE' as const,
      message: `AWS does not let the control plane take the role ${roleArn}: ${said}`,
      hint: 'The account took it back, or its external id is another: compare workspaceAccounts of the settings (docs/aws.md).',
    };
    super(problem, { cause });
  }
}

/** Whether the role was refused; the SDK may wrap the error of a credential provider. */
export function isRevoked(error: unknown): boolean {
  if (error instanceof RevokedRole) return true;
  return error instanceof Error && error.cause !== undefined && isRevoked(error.cause);
}
