// Output files whose content an operator deletes after the upload, before the record: they are uploaded again, and only then visible.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { snapshot } from '../../agent/files/collect.ts';
import { storeOutput } from '../../agent/files/output.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-output-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** `answers`: the missing contents, for each record. Returns how often the files were uploaded. */
async function store(answers: string[][]): Promise<number> {
  let [uploads, records] = [0, 0];
  const before = await snapshot(directory);
  await writeFile(join(directory, 'result.txt'), 'done');
  await storeOutput({
    session: {
      call: ({ read }) => Promise.resolve(read(Buffer.from(JSON.stringify({ missing: answers[records++] ?? [] })))),
    },
    transfers: { upload: async (files) => void (uploads += files.length) },
    ...{ directory, before, attempt: { task: 0, taskId: 0, attempt: 1 }, extra: [], say: () => undefined },
    signal: new AbortController().signal,
  });
  return uploads;
}

const hash = 'a'.repeat(64);

it('uploads missing contents again', async () => {
  expect(await store([[]])).toBe(1);
  expect(await store([[hash], []])).toBe(2);
});

it('gives up when they are always missing', async () => {
  await expect(store([[hash], [hash], [hash]])).rejects.toThrow('the object store lost some of the files');
});
