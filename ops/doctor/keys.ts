// The deployment's keys, where they are a secret of AWS Secrets Manager: whether this process can read it.
import { RopewalkError } from '../../domain/errors.ts';
import { readKeysSecret } from '../../platform/keys-location.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { broken, ok, type Finding, type Patient } from './finding.ts';

/** Keys in the home are a matter of its check. */
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
