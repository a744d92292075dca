// The keys of the deployment: the secret that the environment names, else `keys.json` of the home.
import { join } from 'node:path';

import { loadKeys, type Keys } from './keys.ts';

/**
 * Loads AWS's SDK only when a secret is named. Without one, creates `keys.json` when it does not exist.
 * @throws RopewalkError VALIDATION when the keys are damaged, FORBIDDEN, NOT_FOUND or UNAVAILABLE when the secret cannot be
 *   read.
 */
export async function openKeys({ home, keysSecret }: { home: string; keysSecret: string | null }): Promise<Keys> {
  if (keysSecret === null) return loadKeys(join(home, 'keys.json'));
  const { loadKeysSecret } = await import('./keys-secret.ts');
  return loadKeysSecret(keysSecret);
}
