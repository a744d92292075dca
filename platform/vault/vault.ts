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
  open(key: string): Promise<Uint8Array<ArrayBuffer> | null>;
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
      const about = { v: 1, kid, nonce: nonce.toString('base64'), expiresAtMs } as const;
      await objects.put(key, await encrypt(cipher, bytes, about));
    },

    async open(key) {
      const stored = await objects.get(key);
      if (stored === null) return null;
      const envelope = parseEnvelope(stored);
      if (envelope === null) throw new DamagedEnvelope(key, 'it is not an envelope of version 1');
      const set = keys.byKid(envelope.kid);
      if (set === null)
        throw new DamagedEnvelope(key, `its key ${JSON.stringify(envelope.kid)} is not in the key file`);
      const bytes = await decrypt(key, envelope, set.vault);
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
  expiresAtMs: number;
  /** The last two fields of the JSON object, because the tag is known only when all data is encrypted. */
  data: Buffer;
  tag: string;
}

/** Before and after the data in the text of an envelope. Base64 needs no escapes, and a text of many MiB takes a JSON parser long. */
const beforeData = ',"data":"';
const afterData = '","tag":"';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** The text of an envelope. Of many MiB with breaks, in which a process of the API answers other requests. */
async function encrypt(
  cipher: CipherGCM,
  bytes: Uint8Array,
  about: Omit<Envelope, 'data' | 'tag'>,
): Promise<Uint8Array> {
  const start = `${JSON.stringify(about).slice(0, -1)}${beforeData}`;
  const dataChars = 4 * Math.ceil(bytes.byteLength / 3);
  const tagChars = 4 * Math.ceil(tagBytes / 3);
  const text = Buffer.allocUnsafe(start.length + dataChars + afterData.length + tagChars + end.length);
  let written = text.write(start, 'latin1');
  for (let from = 0; from < bytes.byteLength; from += sliceBytes) {
    if (from > 0) await pause();
    const slice = cipher.update(bytes.subarray(from, from + sliceBytes));
    written += text.write(slice.toString('base64'), written, 'latin1');
  }
  cipher.final();
  text.write(`${afterData}${cipher.getAuthTag().toString('base64')}${end}`, written, 'latin1');
  return text;
}

const end = '"}';

/** Whole groups of base64; some tenths of a millisecond each. */
const sliceBytes = 3 * 64 * 1024;
const sliceChars = (sliceBytes / 3) * 4;

const additionalData = (key: string, kid: string, expiresAtMs: number) =>
  Buffer.from(JSON.stringify([1, key, kid, expiresAtMs]));

/** Of many MiB with breaks, too. */
async function decrypt(key: string, envelope: Envelope, secret: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { data, kid, expiresAtMs } = envelope;
    const decipher = createDecipheriv(algorithm, secret, Buffer.from(envelope.nonce, 'base64'), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(additionalData(key, kid, expiresAtMs));
    decipher.setAuthTag(Buffer.from(envelope.tag, 'base64'));
    const bytes = new Uint8Array(Math.ceil(data.byteLength / 4) * 3);
    let length = 0;
    for (let from = 0; from < data.byteLength; from += sliceChars) {
      if (from > 0) await pause();
      const slice = Buffer.from(data.toString('latin1', from, from + sliceChars), 'base64');
      bytes.set(decipher.update(slice), length);
      length += slice.byteLength;
    }
    decipher.final();
    return bytes.subarray(0, length);
  } catch (cause) {
    throw new DamagedEnvelope(key, 'it was changed or belongs elsewhere', cause);
  }
}

function parseEnvelope(stored: Uint8Array): Envelope | null {
  const text = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const dataAt = text.indexOf(beforeData) + beforeData.length;
  const dataEnd = text.lastIndexOf(afterData);
  if (dataAt < beforeData.length || dataEnd < dataAt) return null;
  try {
    const about: unknown = JSON.parse(
      `${text.toString('utf8', 0, dataAt - beforeData.length)},"tag":"${text.toString('utf8', dataEnd + afterData.length)}`,
    );
    return isAbout(about) ? { ...about, data: text.subarray(dataAt, dataEnd) } : null;
  } catch {
    return null;
  }
}

function isAbout(value: unknown): value is Omit<Envelope, 'data'> {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Partial<Record<keyof Envelope, unknown>> = value;
  return (
    fields.v === 1 &&
    Number.isSafeInteger(fields.expiresAtMs) &&
    [fields.kid, fields.nonce, fields.tag].every((field) => typeof field === 'string')
  );
}
