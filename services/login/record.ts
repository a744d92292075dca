// Logins that wait for a person. They lie sealed in the object port, not in a workflow: nobody has signed in when one is
// begun, and what anybody may write must not grow a history that lives for ever. They are forgotten after ten minutes.
// What is kept of the device's secret is its hash, and of the user code a keyed one.
import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

import { z } from 'zod';

import { deviceLoginTtlMs } from '../../domain/limits.ts';
import type { Deps } from '../context.ts';

const record = z.object({
  client: z.string(),
  secretSha256: z.string(),
  expiresAtMs: z.number(),
  decision: z
    .discriminatedUnion('approved', [
      z.object({ approved: z.literal(true), workspace: z.string(), user: z.string(), tokenId: z.string() }),
      z.object({ approved: z.literal(false) }),
    ])
    .nullable(),
});
export type LoginRecord = z.infer<typeof record>;

type Store = Pick<Deps, 'vault' | 'objects' | 'keys' | 'now'>;

/** What the device gets, and what people type. */
export interface LoginCodes {
  /** Of the record. */
  key: string;
  deviceCode: string;
  userCode: string;
}

export async function beginLogin(store: Store, client: string): Promise<LoginCodes> {
  await forgetOld(store);
  const userCode = Array.from({ length: userCodeLength }, () => letters.charAt(randomInt(letters.length))).join('');
  const secret = randomBytes(32).toString('base64url');
  const key = keyOf(store, userCode);
  const expiresAtMs = store.now() + deviceLoginTtlMs;
  await writeLogin(store, key, { client, secretSha256: hash(secret), expiresAtMs, decision: null });
  return { key, deviceCode: `${key}.${secret}`, userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}` };
}

/** What belongs to a code as people type it, in any case and with or without its dash; null when there is nothing. */
export async function findByUserCode(store: Store, typed: string): Promise<{ key: string; login: LoginRecord } | null> {
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
  if (code.length !== userCodeLength) return null;
  const key = keyOf(store, code);
  const login = await readLogin(store, key);
  return login === null ? null : { key, login };
}

/** Null for what is unknown, over, or not the device's that began it: they look the same. */
export async function findByDeviceCode(
  store: Store,
  deviceCode: string,
): Promise<{ login: LoginRecord; secret: string } | null> {
  const [, key, secret] = /^([0-9a-f]{64})\.([A-Za-z0-9_-]{43})$/.exec(deviceCode) ?? [];
  if (key === undefined || secret === undefined) return null;
  const login = await readLogin(store, key);
  if (login === null || !timingSafeEqual(Buffer.from(hash(secret)), Buffer.from(login.secretSha256))) return null;
  return { login, secret };
}

export async function writeLogin({ vault, now }: Store, key: string, login: LoginRecord): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(login));
  await vault.seal(`${prefix}${key}`, bytes, { ttlMs: Math.max(1, login.expiresAtMs - now()) });
}

/** Makes room; what has been decided stays. */
export async function giveUpUndecided(store: Store, key: string): Promise<void> {
  const login = await readLogin(store, key);
  if (login !== null && login.decision === null) await store.vault.delete(`${prefix}${key}`);
}

async function readLogin({ vault }: Store, key: string): Promise<LoginRecord | null> {
  const bytes = await vault.open(`${prefix}${key}`);
  return bytes === null ? null : record.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
}

const prefix = 'logins/';
/** No vowels: no words, and nothing that looks like something else. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const userCodeLength = 8;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const keyOf = ({ keys }: Store, userCode: string): string =>
  createHmac('sha256', keys.current.requestHmac).update(`login ${userCode}`).digest('hex');

/** A few at a time, whenever one is begun: those that nobody has come back for. */
async function forgetOld({ vault, objects }: Store): Promise<void> {
  const keys = await objects.list(prefix, { limit: 20 });
  await Promise.all(keys.map(async (key) => ((await vault.open(key)) === null ? vault.delete(key) : undefined)));
}
