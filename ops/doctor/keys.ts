// Checks that this process can read the deployment's keys, and that they are those that the database has recorded.
import { RopewalkError } from '../../domain/errors.ts';
import { compareKeys } from '../../domain/known-keys.ts';
import { requireOwnKeys } from '../../platform/foreign-keys.ts';
import { readKeysSecret } from '../../platform/keys-location.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { databasePlace, readDeployment } from '../database.ts';
import { broken, ok, type Finding, type Patient } from './finding.ts';

/** The check of the home covers the mode of a key file. */
export async function checkKeys({ env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding[]> {
  try {
    const keysSecret = readKeysSecret(env);
    const { keys: known = null, deploymentId = '' } = (await readDeployment(databasePlace(env, home))) ?? {};
    if (keysSecret === null && known === null) return [];
    const keys = await openKeys({ home, keysSecret });
    requireOwnKeys(compareKeys(known, keys), { deploymentId, recordedIn: 'the database' });
    if (keysSecret === null) return [];
    return [ok('keys', `${keysSecret} can be read; new tokens are signed with ${keys.current.kid}`)];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('keys', error.problem.message, error.problem.hint ?? '')];
  }
}
