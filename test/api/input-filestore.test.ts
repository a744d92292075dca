// The files of a job with an input filestore: which of two files at one path the tasks get.
import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { createTestApi } from './support.ts';

// The test API sends bodies as JSON.
const contentOfStore = { of: 'the filestore' };
const bytesOfStore = Buffer.from(JSON.stringify(contentOfStore));
const stored = (path: string) => ({
  path,
  sha256: createHash('sha256').update(bytesOfStore).digest('hex'),
  bytes: bytesOfStore.length,
});

async function createFilled(...paths: string[]) {
  const api = await createTestApi();
  const blob = await api.call('PUT', `/v1/file-blobs/${stored('').sha256}`, { body: contentOfStore });
  expect(blob.status).toBe(204);
  const added = await api.call('POST', '/v1/filestores/raw/files', { body: { files: paths.map(stored) } });
  expect(added.status).toBe(204);
  return async (files: object[], more: object = {}) => {
    const body = { command: ['run.sh'], inputFilestore: 'raw', files, ...more };
    const answer = await api.call('POST', '/v1/jobs', { body });
    expect(answer.status).toBe(201);
    const { warnings } = await answer.json();
    const key = api.objects.keys().findLast((each) => each.startsWith('vault/')) ?? '';
    const bundle = JSON.parse(Buffer.from((await api.vault.open(key)) ?? []).toString());
    const pathsOf = (list: { path: string }[]): string[] => list.map(({ path }) => path);
    return { warnings: warnings.join(), files: pathsOf(bundle.files), inputFiles: pathsOf(bundle.inputFiles) };
  };
}

const sent = (path: string, implicit?: boolean) => ({
  ...{ path, content: Buffer.from('of the user').toString('base64') },
  ...(implicit === undefined ? {} : { implicit }),
});

it('files of the input filestore replace those that a script only names, with a warning', async () => {
  const submit = await createFilled('data.csv', 'sub/inner.py', 'other.csv');
  const files = [sent('run.sh'), sent('./data.csv', true), sent('sub', true), sent('helper.py', true)];
  const job = await submit(files);
  expect(job.files).toEqual(['run.sh', 'helper.py']);
  expect(job.inputFiles.toSorted()).toEqual(['data.csv', 'other.csv', 'sub/inner.py']);
  expect(job.warnings).toContain('Tasks get data.csv, sub of the filestore raw');
});

it('files that the user names replace those of the input filestore', async () => {
  const submit = await createFilled('data.csv', 'other.csv');
  const job = await submit([sent('run.sh'), sent('data.csv')]);
  expect([job.files, job.inputFiles, job.warnings]).toEqual([['run.sh', 'data.csv'], ['other.csv'], '']);
});
