// The secret part of a token: made here, hashed at once, shown once.
import { createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface TokenSecret {
  id: string;
  secret: string;
  /** What the database has. */
  sha256: string;
}

export const newTokenSecret = (): TokenSecret => tokenSecretFrom(randomBytes(32));

/** The same seed gives the same token: a lost answer can be repeated without a second token. */
export function tokenSecretFrom(seed: Uint8Array): TokenSecret {
  const bytes = (label: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', seed, '', `ropewalk ${label}`, length));
  // 36 characters do not divide 256: the bias is of no use to anybody, since an id is no secret.
  const id = Array.from(bytes('token id', 12), (byte) => letters.charAt(byte % letters.length)).join('');
  const secret = bytes('token secret', 32).toString('base64url');
  return { id, secret, sha256: createHash('sha256').update(secret).digest('hex') };
}

export const tokenText = (workspace: string, { id, secret }: Pick<TokenSecret, 'id' | 'secret'>): string =>
  `rw_${workspace}_${id}-${secret}`;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
