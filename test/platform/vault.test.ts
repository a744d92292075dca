import { describe, expect, it } from 'vitest';

import { createVault } from '../../platform/vault/vault.ts';
import { turnsDuring } from '../support/event-loop-turns.ts';
import { memoryObjects, testKeys } from './support.ts';

const secretText = 'the password is swordfish';
const bytes = new TextEncoder().encode(secretText);
const hour = { ttlMs: 3_600_000 };

describe('the vault', () => {
  it('returns what was sealed, and stores nothing readable', async () => {
    const objects = memoryObjects();
    const vault = createVault(objects, testKeys());
    await vault.seal('vault/w/a.sealed', bytes, hour);
    expect(new TextDecoder().decode((await vault.open('vault/w/a.sealed')) ?? undefined)).toBe(secretText);
    const stored = Buffer.from((await objects.get('vault/w/a.sealed')) ?? []).toString();
    expect(stored).not.toContain('swordfish');
    expect(stored).not.toContain(Buffer.from(secretText).toString('base64').slice(4, 20));
  });

  it.each([0, 1, 2, 3, 3 * 64 * 1024 - 1, 3 * 64 * 1024, 3 * 64 * 1024 + 1, 2_000_000])(
    'returns %d bytes as they were',
    async (length) => {
      const vault = createVault(memoryObjects(), testKeys());
      const large = Buffer.alloc(length, 'abc\0\u00ff', 'latin1');
      await vault.seal('k', large, hour);
      expect(Buffer.from((await vault.open('k')) ?? 'none').equals(large)).toBe(true);
    },
  );

  it('gives other work its turn while it seals and opens 16 MiB', async () => {
    const vault = createVault(memoryObjects(), testKeys());
    expect(await turnsDuring(() => vault.seal('k', new Uint8Array(2 ** 24), hour))).toBeGreaterThanOrEqual(64);
    expect(await turnsDuring(() => vault.open('k'))).toBeGreaterThanOrEqual(64);
  });

  it('answers null for an object that never existed, was deleted, or has expired', async () => {
    let nowMs = 1_000;
    const vault = createVault(memoryObjects(), testKeys(), () => nowMs);
    expect(await vault.open('vault/w/a.sealed')).toBeNull();
    await vault.seal('vault/w/a.sealed', bytes, { ttlMs: 500 });
    nowMs = 1_499;
    expect(await vault.open('vault/w/a.sealed')).not.toBeNull();
    nowMs = 1_500;
    expect(await vault.open('vault/w/a.sealed')).toBeNull();
    await vault.delete('vault/w/a.sealed');
    expect(await vault.open('vault/w/a.sealed')).toBeNull();
  });

  it('uses a new nonce each time', async () => {
    const objects = memoryObjects();
    const vault = createVault(objects, testKeys());
    await vault.seal('k', bytes, hour);
    const first = await objects.get('k');
    await vault.seal('k', bytes, hour);
    expect(await objects.get('k')).not.toEqual(first);
  });

  const flip = (base64: string) => {
    const raw = Buffer.from(base64, 'base64');
    raw[0] = (raw[0] ?? 0) ^ 1;
    return raw.toString('base64');
  };
  it.each([
    ['data', (e: Record<string, unknown>) => ({ ...e, data: flip(String(e['data'])) })],
    ['tag', (e: Record<string, unknown>) => ({ ...e, tag: flip(String(e['tag'])) })],
    ['a tag cut short', (e: Record<string, unknown>) => ({ ...e, tag: String(e['tag']).slice(0, 8) })],
    ['nonce', (e: Record<string, unknown>) => ({ ...e, nonce: flip(String(e['nonce'])) })],
    ['a longer life', (e: Record<string, unknown>) => ({ ...e, expiresAtMs: Number(e['expiresAtMs']) + 1 })],
    ['an unknown key id', (e: Record<string, unknown>) => ({ ...e, kid: 'k-other' })],
    ['another version', (e: Record<string, unknown>) => ({ ...e, v: 2 })],
    ['a missing field', (e: Record<string, unknown>) => ({ ...e, tag: undefined })],
  ])('refuses an envelope with a changed %s', async (_name, change) => {
    const objects = memoryObjects();
    const vault = createVault(objects, testKeys());
    await vault.seal('k', bytes, hour);
    const envelope = JSON.parse(Buffer.from((await objects.get('k')) ?? []).toString());
    await objects.put('k', Buffer.from(JSON.stringify(change(envelope))));
    await expect(vault.open('k')).rejects.toThrow('cannot be opened');
  });

  it('refuses an envelope that was moved to another key, or made with another master key of the same id', async () => {
    const objects = memoryObjects();
    const vault = createVault(objects, testKeys());
    await vault.seal('vault/a/1.sealed', bytes, hour);
    await objects.put('vault/b/1.sealed', (await objects.get('vault/a/1.sealed')) ?? new Uint8Array());
    await expect(vault.open('vault/b/1.sealed')).rejects.toThrow('was changed or belongs elsewhere');
    await expect(createVault(objects, testKeys({ seed: 9 })).open('vault/a/1.sealed')).rejects.toThrow(
      'was changed or belongs elsewhere',
    );
  });
});
