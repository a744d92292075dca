// The contract of every object store, on any storage.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Objects } from '../../platform/objects/objects.ts';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | null): string | null =>
  value === null ? null : new TextDecoder().decode(value);

export interface ObjectsBackend {
  /** Another store that is empty. */
  open: () => Promise<Objects>;
  /** The runs of the property test of lists. */
  runs: number;
}

export function describeObjects(title: string, { open, runs }: ObjectsBackend): void {
  describe(`the contract of object stores: ${title}`, () => {
    it('puts, replaces, gets and deletes', async () => {
      const objects = await open();
      expect(await objects.get('a/b.json')).toBeNull();
      await objects.put('a/b.json', bytes('one'));
      await objects.put('a/b.json', bytes('two'));
      expect(text(await objects.get('a/b.json'))).toBe('two');
      expect(await objects.get('a')).toBeNull();
      await objects.delete('a/b.json');
      await objects.delete('a/b.json');
      expect(await objects.get('a/b.json')).toBeNull();
    });

    it('keeps bytes exactly, also none and 6 MiB', async () => {
      const objects = await open();
      const every = Uint8Array.from({ length: 6 * 1_048_576 }, (_, index) => (index * 31 + (index >> 8)) % 256);
      for (const value of [new Uint8Array(0), every]) {
        await objects.put('bytes', value);
        expect(Buffer.compare((await objects.get('bytes')) ?? bytes('missing'), value)).toBe(0);
      }
    });

    it('creates once: of many callers at once exactly one succeeds, and its bytes stay', async () => {
      const objects = await open();
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, caller) =>
          (await objects.create('x/once', bytes(`${caller}`))) ? caller : null,
        ),
      );
      const winners = answers.filter((caller) => caller !== null);
      expect(winners).toHaveLength(1);
      expect(text(await objects.get('x/once'))).toBe(`${winners[0]}`);
      expect(await objects.create('x/once', bytes('late'))).toBe(false);
      expect(text(await objects.get('x/once'))).toBe(`${winners[0]}`);
      await objects.delete('x/once');
      expect(await objects.create('x/once', bytes('again'))).toBe(true);
    });

    it('shows readers whole objects only, while many writers replace one', async () => {
      const objects = await open();
      const versions = Array.from({ length: 20 }, (_, version) => String(version % 10).repeat(50_000));
      await objects.put('k', bytes(versions[0] ?? ''));
      const seen = await Promise.all(
        versions.flatMap((version) => [objects.put('k', bytes(version)).then(() => null), objects.get('k').then(text)]),
      );
      for (const value of seen.filter((value) => value !== null)) expect(versions).toContain(value);
    });

    it('refuses keys that are not relative paths of plain segments', async () => {
      const objects = await open();
      const wrong = [
        '../x',
        'a/../../x',
        '/etc/passwd',
        'a//b',
        'a/',
        '',
        '.',
        '..',
        'a/.hidden',
        '.tmp/x',
        'a\\b',
        'A',
        'a\0b',
      ];
      for (const key of wrong) {
        const attempts = [
          () => objects.put(key, bytes('x')),
          () => objects.create(key, bytes('x')),
          () => objects.get(key),
          () => objects.delete(key),
        ];
        for (const attempt of attempts) await expect(attempt()).rejects.toThrow('is not an object key');
      }
      await expect(objects.list('../', { limit: 1 })).rejects.toThrow('is not an object key');
      expect(await objects.list('', { limit: 10 })).toEqual([]);
    });

    it('lists in ascending order of whole keys, page by page', async () => {
      const segment = fc.stringMatching(/^[a-c][a-c._-]{0,2}$/);
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.array(segment, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
          fc.integer({ min: 1, max: 4 }),
          async (paths, limit) => {
            const objects = await open();
            const kept = new Set<string>();
            for (const key of paths.map((parts) => parts.join('/'))) {
              const clashes = [...kept].some((other) => other.startsWith(`${key}/`) || key.startsWith(`${other}/`));
              if (clashes) continue;
              kept.add(key);
              await objects.put(key, bytes(key));
            }
            const prefix = 'a';
            const listed: string[] = [];
            for (;;) {
              const page = await objects.list(prefix, { limit, after: listed.at(-1) ?? '' });
              listed.push(...page);
              if (page.length < limit) break;
            }
            expect(listed).toEqual([...kept].filter((key) => key.startsWith(prefix)).sort());
          },
        ),
        { numRuns: runs },
      );
    });
  });
}
