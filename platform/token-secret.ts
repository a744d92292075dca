// The secret of an API token: created here, hashed at once, shown once. A token's text is `rw_{workspace}_{id}-{secret}`. The
// hash is keyed with the deployment's key file: a row written into the database without the key is not a valid token.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

import type { Keys, KeySet } from './keys.ts';

export interface TokenSecret {
  id: string;
  secret: string;
  /** Stored in the database: the id of the key, a colon, HMAC-SHA256 in hex. */
  secretHash: string;
}

export const newTokenSecret = (keys: Keys): TokenSecret => tokenSecretFrom(keys, randomBytes(32));

/** The same seed gives the same token, so a lost answer can be repeated without a second token. */
export function tokenSecretFrom(keys: Keys, seed: Uint8Array): TokenSecret {
  const bytes = (label: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', seed, '', `ropewalk ${label}`, length));
  // 36 does not divide 256: the bias does not help an attacker, because an id is not secret.
  const id = Array.from(bytes('token id', 12), (byte) => letters.charAt(byte % letters.length)).join('');
  const secret = bytes('token secret', 32).toString('base64url');
  return { id, secret, secretHash: hashSecret(keys, secret) };
}

export const tokenText = (workspace: string, { id, secret }: Pick<TokenSecret, 'id' | 'secret'>): string =>
  `rw_${workspace}_${id}-${secret}`;

/** Null for a text that is not a token. */
export function parseToken(text: string): { workspace: string; id: string; secret: string } | null {
  const [, workspace, id, secret] = tokenSyntax.exec(text) ?? [];
  return workspace === undefined || id === undefined || secret === undefined ? null : { workspace, id, secret };
}

/** Uses the current key. */
export function hashSecret({ current }: Keys, secret: string): string {
  return `${current.kid}:${mac(current, secret).toString('hex')}`;
}

/** In constant time, also for a hash whose key is no longer in the key file, and for `null`, an unknown token id. */
export function isHashOf(keys: Keys, secretHash: string | null, secret: string): boolean {
  const [kid = '', hex = ''] = (secretHash ?? '').split(':');
  const key = keys.byKid(kid);
  const given = mac(key ?? keys.current, secret);
  const known = Buffer.from(hex, 'hex');
  const isComparable = key !== null && known.byteLength === given.byteLength;
  return timingSafeEqual(isComparable ? known : Buffer.alloc(given.byteLength), given) && isComparable;
}

const mac = ({ apiTokens }: KeySet, secret: string): Buffer => createHmac('sha256', apiTokens).update(secret).digest();

const tokenSyntax = /^rw_([a-z0-9][a-z0-9-]{0,62})_([a-z0-9]{12})-([A-Za-z0-9_-]{43})$/;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
