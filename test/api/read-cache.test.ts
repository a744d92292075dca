// One read at a time, never older than requested, and a quick error while the source fails.
import { describe, expect, it } from 'vitest';

import { createReadCache } from '../../services/read-cache.ts';

function createSource() {
  const reads: PromiseWithResolvers<string>[] = [];
  const clock = { ms: 0 };
  const seen: string[] = [];
  const cache = createReadCache<string>({
    now: () => clock.ms,
    maxEntries: 2,
    onRead: (source) => seen.push(source),
    load: () => {
      const read = Promise.withResolvers<string>();
      reads.push(read);
      return read.promise;
    },
  });
  return { reads, clock, cache, seen };
}

describe('a read', () => {
  it('is shared by all callers meanwhile, and reused up to the age that each accepts', async () => {
    const { reads, clock, cache, seen } = createSource();
    const both = [cache.get('k', 100), cache.get('k', 1_000)];
    reads[0]?.resolve('one');
    expect(await Promise.all(both)).toEqual(['one', 'one']);
    clock.ms = 100;
    expect(await cache.get('k', 101)).toBe('one');
    void cache.get('k', 100);
    expect(reads).toHaveLength(2);
    expect(seen).toEqual(['source', 'source', 'cache']);
  });

  it('that began before a change answers no request that came after it, and the next read is shared', async () => {
    const { reads, cache } = createSource();
    const early = cache.get('k', 100);
    cache.expire('k');
    const late = [cache.get('k', 100), cache.get('k', 0)];
    expect(reads).toHaveLength(1);
    reads[0]?.resolve('before');
    expect(await early).toBe('before');
    reads[1]?.resolve('after');
    expect(await Promise.all(late)).toEqual(['after', 'after']);
    expect(await cache.get('k', 100)).toBe('after');
    expect(reads).toHaveLength(2);
  });

  it('is made anew for every key when all have expired', async () => {
    const { reads, cache } = createSource();
    for (const [index, key] of ['a', 'b'].entries()) {
      const read = cache.get(key, 100);
      reads[index]?.resolve(key);
      await read;
    }
    cache.expireAll();
    for (const key of ['a', 'b']) void cache.get(key, 100);
    expect(reads).toHaveLength(4);
  });

  it('of a source that fails is refused quickly from then on, until one succeeds', async () => {
    const { reads, clock, cache, seen } = createSource();
    const first = cache.get('k', 100);
    reads[0]?.reject(new Error('unavailable'));
    await expect(first).rejects.toThrow('unavailable');
    // This one hangs, as a read from a failed host does.
    await expect(cache.get('k', 100)).rejects.toThrow('unavailable');
    reads[1]?.resolve('back');
    expect(await cache.get('k', 100)).toBe('back');
    expect(seen).toEqual(['failed', 'failed', 'source']);
    clock.ms = 100;
    const next = cache.get('k', 100);
    reads[2]?.resolve('later');
    expect(await next).toBe('later');
  });

  it('keeps the keys that were used last, and the last value however old', async () => {
    const { reads, clock, cache } = createSource();
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      const read = cache.get(key, 100);
      reads[index]?.resolve(key);
      await read;
    }
    clock.ms = 1e9;
    expect(cache.peek('a')).toBeNull();
    expect(cache.peek('c')).toMatchObject({ value: 'c', readAtMs: 0 });
  });
});
