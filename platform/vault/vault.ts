// Secrets by reference: histories carry an object key, and the value is stored here, sealed with AES-256-GCM. The object key,
// the key id and the expiry are authenticated too, so an envelope cannot be moved, re-labelled or extended.
import { type CipherGCM, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { Keys } from '../keys.ts';
import type { Objects } from '../objects/objects.ts';

export interface Vault {
  /** Replaces a previous envelope under the key. */
  seal(key: string, bytes: Uint8Array, options: { ttlMs: number }): Promise<void>;
  /**
   * null when nothing is sealed under the key, or when it has expired. Throws DamagedEnvelope when the envelope can never be
   * opened; any other error comes from the object store, and the envelope may be intact.
   */
  open(key: string): Promise<Uint8Array | null>;
  delete(key: string): Promise<void>;
}

export class DamagedEnvelope extends RopewalkError {
  constructor(key: string, why: string, cause?: unknown) {
    super({ code: 'INTERNAL', message: `The sealed object ${key} cannot be opened: ${why}.` }, { cause });
    this.name = 'DamagedEnvelope';
  }
}

export function createVault(objects: Objects, keys: Keys, now: () => number = Date.now): Vault {
  return {
    async seal(key, bytes, { ttlMs }) {
      const { kid, vault } = keys.current;
      const expiresAtMs = now() + ttlMs;
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, vault, nonce, { authTagLength: tagBytes });
      cipher.setAAD(additionalData(key, kid, expiresAtMs));
      const data = await encrypt(cipher, bytes);
      const tag = cipher.getAuthTag().toString('base64');
      const about: Omit<Envelope, 'data'> = { v: 1, kid, nonce: nonce.toString('base64'), tag, expiresAtMs };
      // Base64 needs no escapes, and a text of many MiB takes JSON.stringify long.
      const start = `${JSON.stringify(about).slice(0, -1)},"data":"`;
      await objects.put(key, Buffer.concat([Buffer.from(start), data, Buffer.from('"}')]));
    },

    async open(key) {
      const stored = await objects.get(key);
      if (stored === null) return null;
      const envelope = parseEnvelope(stored);
      if (envelope === null) throw new DamagedEnvelope(key, 'it is not an envelope of version 1');
      const set = keys.byKid(envelope.kid);
      if (set === null)
        throw new DamagedEnvelope(key, `its key ${JSON.stringify(envelope.kid)} is not in the key file`);
      const bytes = decrypt(key, envelope, set.vault);
      return envelope.expiresAtMs <= now() ? null : bytes;
    },

    delete: (key) => objects.delete(key),
  };
}

/** Reads an envelope's expiry without opening it; null for other objects. */
export const expiryOf = (stored: Uint8Array): number | null => parseEnvelope(stored)?.expiresAtMs ?? null;

interface Envelope {
  v: 1;
  kid: string;
  nonce: string;
  tag: string;
  data: string;
  expiresAtMs: number;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** In base64. Of many MiB with breaks, in which a process of the API answers other requests. */
async function encrypt(cipher: CipherGCM, bytes: Uint8Array): Promise<Uint8Array> {
  const sealed = Buffer.allocUnsafe(4 * Math.ceil(bytes.byteLength / 3));
  let written = 0;
  for (let from = 0; from < bytes.byteLength; from += sliceBytes) {
    if (from > 0) await pause();
    const slice = cipher.update(bytes.subarray(from, from + sliceBytes));
    written += sealed.write(slice.toString('base64'), written, 'latin1');
  }
  cipher.final();
  return sealed;
}

/** Whole groups of base64; about a millisecond each. */
const sliceBytes = 3 * 256 * 1024;

const additionalData = (key: string, kid: string, expiresAtMs: number) =>
  Buffer.from(JSON.stringify([1, key, kid, expiresAtMs]));

function decrypt(key: string, envelope: Envelope, secret: Uint8Array): Uint8Array {
  try {
    const nonce = Buffer.from(envelope.nonce, 'base64');
    const decipher = createDecipheriv(algorithm, secret, nonce, { authTagLength: tagBytes });
    decipher.setAAD(additionalData(key, envelope.kid, envelope.expiresAtMs));
    decipher.setAuthTag(Buffer.from(envelope.tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(envelope.data, 'base64')), decipher.final()]);
  } catch (cause) {
    throw new DamagedEnvelope(key, 'it was changed or belongs elsewhere', cause);
  }
}

function parseEnvelope(stored: Uint8Array): Envelope | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(stored).toString('utf8'));
    return isEnvelope(value) ? value : null;
  } catch {
    return null;
  }
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Partial<Record<keyof Envelope, unknown>> = value;
  return (
    fields.v === 1 &&
    Number.isSafeInteger(fields.expiresAtMs) &&
    [fields.kid, fields.nonce, fields.tag, fields.data].every((field) => typeof field === 'string')
  );
}
