import { describe, expect, it } from 'vitest';

import { createViewCache } from '../../services/view-cache.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { eventually } from '../support/eventually.ts';

const away = () => new RopewalkError({ code: 'UNAVAILABLE', message: 'away' });

/** A source whose reads wait until the test answers them. */
function createSource() {
  const reads: { key: string; resolve: (value: string) => void; reject: (error: unknown) => void }[] = [];
  const clock = { ms: 1_000 };
  const load = (key: string) =>
    new Promise<string>((resolve, reject) => {
      reads.push({ key, resolve, reject });
    });
  return { reads, clock, cache: createViewCache({ load, now: () => clock.ms, maxEntries: 2 }) };
}

describe('the view cache', () => {
  it('reads once for all who ask at once, and again when the value is too old', async () => {
    const { reads, clock, cache } = createSource();
    const all = [cache.get('k', 100), cache.get('k', 100)];
    reads[0]?.resolve('one');
    expect((await Promise.all(all)).map(({ value }) => value)).toEqual(['one', 'one']);
    clock.ms += 99;
    expect((await cache.get('k', 100)).value).toBe('one');
    clock.ms += 1;
    const later = cache.get('k', 100);
    reads[1]?.resolve('two');
    expect(await later).toEqual({ value: 'two', readAtMs: 1_100, isStale: false });
    expect(reads).toHaveLength(2);
  });

  it('never gives a caller who must see a write what was read before it: those share the next read', async () => {
    const { reads, cache } = createSource();
    const early = cache.get('k', 100);
    const after = [cache.get('k', 0), cache.get('k', 0)];
    cache.expire('k');
    after.push(cache.get('k', 100));
    expect(reads).toHaveLength(1);
    reads[0]?.resolve('old');
    expect((await early).value).toBe('old');
    await eventually(() => reads.length === 2);
    reads[1]?.resolve('new');
    expect((await Promise.all(after)).map(({ value }) => value)).toEqual(['new', 'new', 'new']);
    expect((await cache.get('k', 100)).value).toBe('new');
    expect(reads).toHaveLength(2);
  });

  it('gives nobody what was at hand before a write while the read after it is under way', async () => {
    const { reads, cache } = createSource();
    const first = cache.get('k', 100);
    reads[0]?.resolve('before');
    await first;
    cache.expire('k');
    const after = [cache.get('k', 100), cache.get('k', 100)];
    expect(reads).toHaveLength(2);
    // Written once more: the read under way may have missed it.
    cache.expire('k');
    after.push(cache.get('k', 100));
    reads[1]?.resolve('between');
    await eventually(() => reads.length === 3);
    const last = cache.get('k', 100);
    reads[2]?.resolve('after');
    expect((await Promise.all(after)).map(({ value }) => value)).toEqual(['between', 'between', 'after']);
    expect((await last).value).toBe('after');
    expect((await cache.get('k', 100)).value).toBe('after');
    expect(reads).toHaveLength(3);
  });

  it('gives the last value with its time while the source is away, and soon after the first failure', async () => {
    const { reads, clock, cache } = createSource();
    const first = cache.get('k', 100);
    reads[0]?.resolve('one');
    await first;
    clock.ms += 5_000;
    const waiting = cache.get('k', 100);
    reads[1]?.reject(away());
    const stale = { value: 'one', readAtMs: 1_000, isStale: true };
    expect(await waiting).toEqual(stale);
    // Nobody answers the next read, and yet its callers get the last value; they share that one read.
    expect(await Promise.all([cache.get('k', 100), cache.get('k', 0)])).toEqual([stale, stale]);
    expect(reads).toHaveLength(3);
    reads[2]?.resolve('two');
    expect(await eventually(async () => (await cache.get('k', 100)).value === 'two')).toBe(true);
    expect((await cache.get('k', 100)).isStale).toBe(false);
    expect(reads).toHaveLength(3);
  });

  it('has nothing to give when it never read, and passes on what is not an outage', async () => {
    const { reads, clock, cache } = createSource();
    const first = cache.get('k', 100);
    reads[0]?.reject(away());
    await expect(first).rejects.toThrow('away');
    const second = cache.get('k', 100);
    reads[1]?.resolve('one');
    await second;
    clock.ms += 1_000;
    const third = cache.get('k', 100);
    reads[2]?.reject(new Error('a mistake'));
    await expect(third).rejects.toThrow('a mistake');
  });

  it('forgets the key that was not read for longest', async () => {
    const { reads, cache } = createSource();
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      const read = cache.get(key, 100);
      reads[index]?.resolve(key);
      await read;
    }
    await cache.get('c', 100);
    expect(reads.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    void cache.get('a', 100);
    expect(reads).toHaveLength(4);
  });
});
