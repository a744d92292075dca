// Small stand-ins for tests: objects in memory and keys that need no file.
import type { Keys, KeySet } from '../../platform/keys.ts';
import type { Objects } from '../../platform/objects/objects.ts';

export function memoryObjects(): Objects & { keys(): string[] } {
  const stored = new Map<string, Uint8Array>();
  return {
    put: async (key, value) => void stored.set(key, Uint8Array.from(value)),
    get: async (key) => stored.get(key) ?? null,
    delete: async (key) => void stored.delete(key),
    list: async (prefix, { after = '', limit }) =>
      [...stored.keys()]
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort()
        .slice(0, limit),
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
});
