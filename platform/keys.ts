// The deployment's key file: one random master key per key id, shared by all processes of the deployment. Only derived keys are
// used, one per purpose: a leak of one never discloses another. The file is never overwritten, and created only by ops/keys.ts: with
// new keys every token of an existing deployment would be invalid, and its sealed data unreadable.
import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { syncDirectory } from './sync-directory.ts';

export interface KeySet {
  kid: string;
  /** AES-256-GCM key of the vault. */
  vault: Uint8Array;
  /** HMAC key of launch and instance tokens. */
  tokens: Uint8Array;
  /** HMAC key of the secrets of API tokens. */
  apiTokens: Uint8Array;
  /** HMAC key of request bodies, stored with idempotency keys. */
  requestHmac: Uint8Array;
  /** AES-256-GCM key of the sign-in state in browsers. */
  signIn: Uint8Array;
  /** Equal for equal keys; reveals nothing about them. */
  fingerprint: string;
}

export interface Keys {
  /** The keys for new envelopes and tokens. */
  current: KeySet;
  /** null for a key id that this deployment does not have. */
  byKid(kid: string): KeySet | null;
}

/**
 * Null when there is no key file.
 * @throws RopewalkError VALIDATION when the file is damaged or others may read it.
 */
export async function findKeys(path: string): Promise<Keys | null> {
  const text = await readKeyFile(path);
  return text === null ? null : parseKeys(text, originOf(path));
}

/**
 * Creates the key file, readable by its owner only, with a new key. An existing file is read. Safe for concurrent processes.
 * @throws RopewalkError VALIDATION when an existing file is damaged or others may read it.
 */
export async function createKeys(path: string): Promise<Keys> {
  return parseKeys((await readKeyFile(path)) ?? (await createKeyFile(path)), originOf(path));
}

const originOf = (path: string): KeysOrigin => ({
  name: `key file ${path}`,
  hint: 'Restore it from a copy: without it, sealed data is lost.',
});

/** The keys' origin in messages: `key file /home/keys.json`, and the remedy when they are damaged. */
export interface KeysOrigin {
  name: string;
  hint: string;
}

/**
 * Parses the text of a key file. Errors never repeat it.
 * @throws RopewalkError VALIDATION when it is damaged.
 */
export function parseKeys(text: string, origin: KeysOrigin): Keys {
  return keysOf(parseKeyFile(text, origin));
}

interface KeyFile {
  current: string;
  keys: Record<string, string>;
}

const keyBytes = 32;

async function readKeyFile(path: string): Promise<string | null> {
  try {
    const mode = (await stat(path)).mode;
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new RopewalkError({
        code: 'VALIDATION',
        message: `The key file ${path} can be read by other users of this machine.`,
        hint: `Run: chmod 600 ${path}`,
      });
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** link() publishes the complete file, and fails if another process was first: then its file is used. */
async function createKeyFile(path: string): Promise<string> {
  const kid = `k${randomBytes(6).toString('hex')}`;
  const text = JSON.stringify({ current: kid, keys: { [kid]: randomBytes(keyBytes).toString('base64') } });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await link(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(path));
  return (await readKeyFile(path)) ?? text;
}

function parseKeyFile(text: string, origin: KeysOrigin): KeyFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(origin, 'it is not JSON');
  }
  if (!isKeyFile(value)) throw damaged(origin, 'it must hold {"current": kid, "keys": {kid: 32 bytes in base64}}');
  return value;
}

const damaged = ({ name, hint }: KeysOrigin, why: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', message: `The ${name} is damaged: ${why}.`, hint });

function isKeyFile(value: unknown): value is KeyFile {
  if (typeof value !== 'object' || value === null || !('current' in value) || !('keys' in value)) return false;
  const { current, keys } = value;
  if (typeof current !== 'string' || typeof keys !== 'object' || keys === null || !Object.hasOwn(keys, current)) {
    return false;
  }
  return Object.values(keys).every(
    (key) => typeof key === 'string' && Buffer.from(key, 'base64').byteLength === keyBytes,
  );
}

function keysOf(file: KeyFile): Keys {
  const sets = new Map(Object.entries(file.keys).map(([kid, master]) => [kid, derive(kid, master)]));
  const current = sets.get(file.current);
  if (current === undefined) throw new Error('The current key is not in the key file.');
  return { current, byKid: (kid) => sets.get(kid) ?? null };
}

function derive(kid: string, master: string): KeySet {
  const key = (label: string) =>
    new Uint8Array(hkdfSync('sha256', Buffer.from(master, 'base64'), new Uint8Array(0), label, keyBytes));
  return {
    kid,
    vault: key('vault'),
    tokens: key('tokens'),
    apiTokens: key('api-tokens'),
    requestHmac: key('request-hmac'),
    signIn: key('sign-in'),
    fingerprint: Buffer.from(key('fingerprint')).toString('hex'),
  };
}
