// The two codes of a login: the device's secret code, and the user code that a person types. Only keyed hashes of the secret and of the user code are
// stored.
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

import { deviceLoginTtlMs } from '../../domain/people/limits.ts';
import type { DeviceLogin } from '../../store/store.ts';
import type { Deps } from '../context.ts';

type Logins = Pick<Deps, 'store' | 'keys' | 'now'>;

export interface LoginCodes {
  /** Key of the stored login. */
  key: string;
  deviceCode: string;
  userCode: string;
}

export async function beginLogin(
  deps: Logins,
  { client, place }: { client: string; place: string | null },
): Promise<LoginCodes> {
  const secret = randomBytes(32).toString('base64url');
  const nowMs = deps.now();
  const login = {
    client,
    place,
    secretHash: hash(deps, secret),
    expiresAtMs: nowMs + deviceLoginTtlMs,
    decision: null,
  };
  for (;;) {
    const userCode = Array.from({ length: userCodeLength }, () => letters.charAt(randomInt(letters.length))).join('');
    const key = keyOf(deps, userCode);
    // Two open logins must not share a user code; the chance is one in 25 billion.
    if (await deps.store.logins.begin(key, login, nowMs)) {
      return { key, deviceCode: `${key}.${secret}`, userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}` };
    }
  }
}

/** Finds a login by a typed code, in any case and with or without its dash; null when there is none. */
export async function findByUserCode(deps: Logins, typed: string): Promise<{ key: string; login: DeviceLogin } | null> {
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
  if (code.length !== userCodeLength) return null;
  const key = keyOf(deps, code);
  const login = await deps.store.logins.find(key, deps.now());
  return login === null ? null : { key, login };
}

/** Null for an unknown, an expired and another device's login, which are not distinguished. */
export async function findByDeviceCode(
  deps: Logins,
  deviceCode: string,
): Promise<{ login: DeviceLogin; secret: string } | null> {
  const [, key, secret] = /^([0-9a-f]{64})\.([A-Za-z0-9_-]{43})$/.exec(deviceCode) ?? [];
  if (key === undefined || secret === undefined) return null;
  const login = await deps.store.logins.find(key, deps.now());
  if (login === null || !timingSafeEqual(Buffer.from(hash(deps, secret)), Buffer.from(login.secretHash))) return null;
  return { login, secret };
}

/** No vowels, so codes form no words, and no letters that resemble digits. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const userCodeLength = 8;

const hash = ({ keys }: Logins, secret: string): string =>
  createHmac('sha256', keys.current.requestHmac).update(`device ${secret}`).digest('hex');

const keyOf = ({ keys }: Logins, userCode: string): string =>
  createHmac('sha256', keys.current.requestHmac).update(`login ${userCode}`).digest('hex');
