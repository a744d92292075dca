import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createDirectoryObjects } from '../../platform/objects/directory.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: Uint8Array | null) => (value === null ? null : new TextDecoder().decode(value));

describe('objects in a directory', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'ropewalk-objects-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('puts, replaces, gets and deletes', async () => {
    const objects = createDirectoryObjects(root);
    expect(await objects.get('a/b.json')).toBeNull();
    await objects.put('a/b.json', bytes('one'));
    await objects.put('a/b.json', bytes('two'));
    expect(text(await objects.get('a/b.json'))).toBe('two');
    expect(await objects.get('a')).toBeNull();
    await objects.delete('a/b.json');
    await objects.delete('a/b.json');
    expect(await objects.get('a/b.json')).toBeNull();
  });

  it('never lists a temporary file, and removes the abandoned ones of an earlier process', async () => {
    await mkdir(join(root, '.tmp'));
    await writeFile(join(root, '.tmp', 'old'), 'half');
    await writeFile(join(root, '.tmp', 'young'), 'half');
    await utimes(join(root, '.tmp', 'old'), new Date(0), new Date(0));
    const objects = createDirectoryObjects(root);
    await objects.put('x.json', bytes('1'));
    expect(await objects.list('', { limit: 10 })).toEqual(['x.json']);
    expect(await readdir(join(root, '.tmp'))).toEqual(['young']);
  });

  it('leaves the old bytes and no temporary file when a put fails', async () => {
    const objects = createDirectoryObjects(root);
    await objects.put('a/b', bytes('one'));
    await expect(objects.put('a', bytes('two'))).rejects.toThrow('EISDIR');
    expect(text(await objects.get('a/b'))).toBe('one');
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
  });

  it('shows readers whole objects only, while many writers replace one', async () => {
    const objects = createDirectoryObjects(root);
    const versions = Array.from({ length: 20 }, (_, version) => String(version % 10).repeat(50_000));
    await objects.put('k', bytes(versions[0] ?? ''));
    const seen = await Promise.all(
      versions.flatMap((version) => [objects.put('k', bytes(version)).then(() => null), objects.get('k').then(text)]),
    );
    for (const value of seen.filter((value) => value !== null)) expect(versions).toContain(value);
  });

  it.each([
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
  ])('refuses the key %j', async (key) => {
    const objects = createDirectoryObjects(join(root, 'inner'));
    await expect(objects.put(key, bytes('x'))).rejects.toThrow('is not an object key');
    await expect(objects.get(key)).rejects.toThrow('is not an object key');
    await expect(objects.delete(key)).rejects.toThrow('is not an object key');
    expect(await readdir(root)).toEqual([]);
  });

  it('refuses to list outside', async () => {
    await expect(createDirectoryObjects(root).list('../', { limit: 1 })).rejects.toThrow('is not an object key');
  });

  it('lists in ascending order of whole keys, page by page', async () => {
    const segment = fc.stringMatching(/^[a-c][a-c._-]{0,2}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.array(segment, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (paths, limit) => {
          const inner = await mkdtemp(join(root, 'p-'));
          const objects = createDirectoryObjects(inner);
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
      { numRuns: 30 },
    );
  });
});
