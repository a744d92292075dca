// Checks that this process can read the deployment's keys when they are a secret of AWS Secrets Manager.
import { RopewalkError } from '../../domain/errors.ts';
import { readKeysSecret } from '../../platform/keys-location.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { broken, ok, type Finding, type Patient } from './finding.ts';

/** The check of the home covers keys in the home. */
export async function checkKeys({ env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding[]> {
  try {
    const keysSecret = readKeysSecret(env);
    if (keysSecret === null) return [];
    const { current } = await openKeys({ home, keysSecret });
    return [ok('keys', `${keysSecret} can be read; new tokens are signed with ${current.kid}`)];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('keys', error.problem.message, error.problem.hint ?? '')];
  }
}
