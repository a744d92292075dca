// The keys of the deployment: the secret that the environment names, else `keys.json` of the home.
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { findKeys, type Keys } from './keys.ts';

export interface KeysPlace {
  home: string;
  /** ARN of the keys' secret; null: the keys are in the home. */
  keysSecret: string | null;
}

export const keyFileIn = (home: string): string => join(home, 'keys.json');

/**
 * Never creates keys; `ropewalk init` and `ropewalk dev` do.
 * @throws RopewalkError NOT_FOUND when there is no key file, VALIDATION when the keys are damaged, FORBIDDEN, NOT_FOUND or UNAVAILABLE when
 *   the secret cannot be read.
 */
export async function openKeys(place: KeysPlace): Promise<Keys> {
  const keys = await readKeys(place);
  if (keys !== null) return keys;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no key file ${keyFileIn(place.home)}.`,
    hint: `For a new deployment, run \`ropewalk init\`, which creates it. Otherwise: ${restoreKeys}`,
  });
}

/** Null when no secret is named and there is no key file. Loads AWS's SDK only when a secret is named. */
export async function readKeys({ home, keysSecret }: KeysPlace): Promise<Keys | null> {
  if (keysSecret === null) return findKeys(keyFileIn(home));
  const { loadKeysSecret } = await import('./keys-secret.ts');
  return loadKeysSecret(keysSecret);
}

export const restoreKeys =
  'restore keys.json from the backup, copy it from a host that runs, or name its secret in ROPEWALK_KEYS_SECRET. If the keys are lost for good: docs/operations.md, "Lost keys".';
