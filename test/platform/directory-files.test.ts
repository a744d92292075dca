// Content of files in a directory: the caller's error when the disk is full.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { createDirectoryFiles } from '../../platform/objects/directory-files.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ropewalk-files-'));
});
afterAll(() => rm(root, { recursive: true }));

const sha256 = createHash('sha256').update('whole').digest('hex');

it.each([
  ['ENOSPC', 'its disk is full'],
  ['EROFS', 'its file system is read-only'],
])('answers %s as unavailable, and leaves nothing', async (code, why) => {
  // The error of a write and that of its source are thrown at the same place.
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('who');
    throw Object.assign(new Error(`${code}: write`), { code });
  }
  await expect(createDirectoryFiles(root).write('files/x', failing(), { sha256, maxBytes: 100 })).rejects.toMatchObject(
    {
      problem: { code: 'UNAVAILABLE', message: `The object store cannot take anything: ${why}.` },
    },
  );
  expect(await readdir(join(root, '.tmp'))).toEqual([]);
  expect(await createDirectoryFiles(root).size('files/x')).toBeNull();
});
