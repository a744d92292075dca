// Old sealed objects are removed, in bounded rounds; live, foreign and unreadable objects stay.
import { describe, expect, it } from 'vitest';

import { removeExpired } from '../../platform/vault/remove-expired.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { memoryObjects, testKeys } from './support.ts';

const round = { prefix: 'vault/', after: '', maxKeys: 100, maxBytes: 1_000_000 };

async function sealed(lifetimes: Record<string, number>, text = 'x') {
  const objects = memoryObjects();
  const vault = createVault(objects, testKeys(), () => 0);
  for (const [key, ttlMs] of Object.entries(lifetimes)) await vault.seal(key, Buffer.from(text), { ttlMs });
  return objects;
}

describe('a round', () => {
  it('deletes what expired before the time, below its prefix, and nothing else', async () => {
    const objects = await sealed({ 'vault/w/old': 9, 'vault/w/just': 10, 'vault/w/young': 11, 'logins/old': 1 });
    await objects.put('vault/w/strange', Buffer.from('{"v":2,"expiresAtMs":1}'));
    await objects.put('vault/w/torn', Buffer.from('{"v":1,'));
    expect(await removeExpired(objects, { ...round, beforeMs: 10 })).toEqual({ removed: 1, failed: 0, after: '' });
    expect(objects.keys()).toEqual(['logins/old', 'vault/w/just', 'vault/w/strange', 'vault/w/torn', 'vault/w/young']);
  });

  it('goes on behind one that cannot be read or deleted', async () => {
    const objects = await sealed({ 'vault/a': 1, 'vault/b': 1, 'vault/c': 1 });
    const failing = {
      ...objects,
      get: async (key: string) => (key === 'vault/a' ? Promise.reject(new Error('I/O')) : objects.get(key)),
      delete: async (key: string) => (key === 'vault/b' ? Promise.reject(new Error('I/O')) : objects.delete(key)),
    };
    expect(await removeExpired(failing, { ...round, beforeMs: 10 })).toEqual({ removed: 1, failed: 2, after: '' });
    expect(objects.keys()).toEqual(['vault/a', 'vault/b']);
  });

  it.each([
    { bound: 'keys', limits: { maxKeys: 2 } },
    { bound: 'bytes', limits: { maxBytes: 5_000 } },
  ])('is bounded in $bound, and the next begins where it ended, so that all come round', async ({ limits }) => {
    const names = Array.from({ length: 7 }, (_, index) => `vault/w/${index}`);
    // Every second one lives: a round full of live objects must not hide the dead ones behind it.
    const lifetimes = Object.fromEntries(names.map((key, index) => [key, index % 2 === 0 ? 100 : 1]));
    const objects = await sealed(lifetimes, 'x'.repeat(2_000));
    let after = '';
    let rounds = 0;
    do {
      const before = objects.keys().length;
      ({ after } = await removeExpired(objects, { ...round, ...limits, after, beforeMs: 10 }));
      rounds += 1;
      expect(before - objects.keys().length).toBeLessThanOrEqual(2);
    } while (after !== '');
    expect([objects.keys(), rounds]).toEqual([names.filter((_, index) => index % 2 === 0), 4]);
  });
});
