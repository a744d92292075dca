import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { bytes, describeObjects, text } from './objects-contract.ts';
import { memoryObjects } from './support.ts';

let base = '';
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'ropewalk-objects-'));
});
afterAll(() => rm(base, { recursive: true }));
const emptyDirectory = () => mkdtemp(join(base, 'o-'));

describeObjects('a directory', { open: async () => createDirectoryObjects(await emptyDirectory()), runs: 30 });
describeObjects('the memory of unit tests', { open: async () => memoryObjects(), runs: 30 });

describe('objects in a directory', () => {
  let root = '';
  beforeEach(async () => {
    root = await emptyDirectory();
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

  it('writes nothing outside', async () => {
    await expect(createDirectoryObjects(join(root, 'inner')).put('../x', bytes('x'))).rejects.toThrow('object key');
    expect(await readdir(root)).toEqual([]);
  });
});
