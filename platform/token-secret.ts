// The secret of an API token: made here, hashed at once, shown once. The text of a token is `rw_{workspace}_{id}-{secret}`.
import { createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface TokenSecret {
  id: string;
  secret: string;
  /** What the database keeps, hex. */
  sha256: string;
}

export const newTokenSecret = (): TokenSecret => tokenSecretFrom(randomBytes(32));

/** The same seed gives the same token: a lost answer can be repeated without a second token. */
export function tokenSecretFrom(seed: Uint8Array): TokenSecret {
  const bytes = (label: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', seed, '', `ropewalk ${label}`, length));
  // 36 characters do not divide 256: the bias is of no use to an attacker, since an id is no secret.
  const id = Array.from(bytes('token id', 12), (byte) => letters.charAt(byte % letters.length)).join('');
  const secret = bytes('token secret', 32).toString('base64url');
  return { id, secret, sha256: sha256Of(secret) };
}

export const tokenText = (workspace: string, { id, secret }: Pick<TokenSecret, 'id' | 'secret'>): string =>
  `rw_${workspace}_${id}-${secret}`;

/** Null for a text that no token has. */
export function parseToken(text: string): { workspace: string; id: string; sha256: string } | null {
  const [, workspace, id, secret] = tokenSyntax.exec(text) ?? [];
  if (workspace === undefined || id === undefined || secret === undefined) return null;
  return { workspace, id, sha256: sha256Of(secret) };
}

const tokenSyntax = /^rw_([a-z0-9][a-z0-9-]{0,62})_([a-z0-9]{12})-([A-Za-z0-9_-]{43})$/;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const sha256Of = (secret: string): string => createHash('sha256').update(secret).digest('hex');
