// Names that usually mean keys, credentials and databases: python/ropewalk/package_sync/secret_names.py has the same list.
import { basename } from 'node:path';

const secretName = /\.(?:pem|key|p12|pfx|kdbx|sqlite3?|db)$|^(?:id_|credentials|secrets?\b)/i;

export function isSecretName(path: string): boolean {
  const name = basename(path);
  return !name.endsWith('.py') && secretName.test(name);
}
