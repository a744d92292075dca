// Small stand-ins for tests: objects in memory and keys that need no file.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import { RopewalkError } from '../../domain/errors.ts';
import type { Keys, KeySet } from '../../platform/keys.ts';
import type { StreamedFiles } from '../../platform/objects/files.ts';
import { checkKey, checkPrefix } from '../../platform/objects/key.ts';
import type { Objects } from '../../platform/objects/objects.ts';

export function memoryObjects(): Objects & { keys(): string[] } {
  const stored = new Map<string, Uint8Array>();
  return {
    put: async (key, value) => {
      checkKey(key);
      stored.set(key, Uint8Array.from(value));
    },
    create: async (key, value) => {
      checkKey(key);
      if (stored.has(key)) return false;
      stored.set(key, Uint8Array.from(value));
      return true;
    },
    get: async (key) => {
      checkKey(key);
      return stored.get(key) ?? null;
    },
    delete: async (key) => {
      checkKey(key);
      stored.delete(key);
    },
    list: async (prefix, { after = '', limit }) => {
      checkPrefix(prefix);
      return [...stored.keys()]
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort()
        .slice(0, limit);
    },
    keys: () => [...stored.keys()].sort(),
  };
}

export function testKeys({ kid = 'k1', seed = 1, others = [] as KeySet[] } = {}): Keys {
  const current = keySet(kid, seed);
  return { current, byKid: (wanted) => [current, ...others].find((set) => set.kid === wanted) ?? null };
}

export const keySet = (kid: string, seed: number): KeySet => ({
  kid,
  vault: new Uint8Array(32).fill(seed),
  tokens: new Uint8Array(32).fill(seed + 64),
  apiTokens: new Uint8Array(32).fill(seed + 32),
  requestHmac: new Uint8Array(32).fill(seed + 128),
  signIn: new Uint8Array(32).fill(seed + 160),
  fingerprint: `fingerprint-${seed}`,
});

export function memoryFiles(): StreamedFiles {
  const stored = new Map<string, Buffer>();
  return {
    kind: 'streamed',
    size: async (key) => stored.get(key)?.length ?? null,
    write: async (key, source, { sha256 }) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) chunks.push(chunk);
      const content = Buffer.concat(chunks);
      const isSame = createHash('sha256').update(content).digest('hex') === sha256;
      if (!isSame) throw new RopewalkError({ code: 'VALIDATION', message: 'other bytes arrived' });
      stored.set(key, content);
    },
    read: async (key) => {
      const content = stored.get(key);
      return content === undefined ? null : { bytes: content.length, stream: Readable.from([content]) };
    },
  };
}
