// --map-over-file with more values than fit in a request: they are uploaded first, as a list.
import { createHash } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { openStandIn } from '../sdk/open-stand-in.ts';
import { callCli } from './call-cli.ts';
import { withDirectory } from './run-cli.ts';
import { created, envOf } from './submit-job.ts';

const long = 'x'.repeat(32_000);
/** 16 MiB, with bytes that JSON escapes. */
const values = Array.from({ length: 520 }, (_, at) => `${at} "ü" ${long}`);

async function submit(cwd: string, words: string[]) {
  const api = await openStandIn(({ path, body }) => {
    if (path === '/v1/jobs') return { status: 201, json: created };
    if (path !== '/v1/file-uploads') return { status: 204 };
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what the command sent
    const { files } = body as { files: { sha256: string }[] };
    return { json: { uploads: files.map(({ sha256 }) => ({ sha256, url: null, headers: {} })) } };
  });
  const result = await callCli(['batch', 'run', ...words], { cwd, env: envOf(api) });
  const sent = api.requests.find(({ path }) => path === '/v1/jobs')?.body;
  const uploads = api.requests.filter(({ method }) => method === 'PUT');
  return { ...result, sent, uploads, paths: api.requests.map(({ path }) => path) };
}

const listOf = (lines: readonly string[]) => {
  const content = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, bytes: Buffer.byteLength(content), count: lines.length };
};

it('uploads the list before the job is submitted, and says that it is not sealed', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'inputs.txt'), `${values.join('\r\n')}\n`);
    const { code, sent, paths, stderr } = await submit(cwd, [
      ...['--map-over-file', 'inputs.txt', '--map-over-input-var', 'FILE', 'echo'],
    ]);
    expect([code, sent]).toEqual([0, { command: ['echo'], mapOver: { list: listOf(values), inputVar: 'FILE' } }]);
    expect(paths).toEqual(['/v1/file-uploads', `/v1/file-blobs/${listOf(values).sha256}`, '/v1/jobs']);
    expect(stderr).toContain('uploaded to the object store, and not sealed');
  });
});

it('refuses a file that is larger than a list may be before it reads it as text', async () => {
  await withDirectory(async (cwd) => {
    const file = await open(join(cwd, 'inputs.txt'), 'w');
    await file.truncate(256 * 1024 ** 2 + 1);
    await file.close();
    const { code, stderr, paths } = await submit(cwd, ['--map-over-file', 'inputs.txt', 'echo']);
    expect([code, paths]).toEqual([2, []]);
    expect(stderr).toContain('--map-over-file: the values have 257 MiB, and those of a job at most 256 MiB');
  });
});

it('refuses values whose JSON is larger than a list may be, or than a text can be', async () => {
  await withDirectory(async (cwd) => {
    const line = `${'\u0001'.repeat(30_000)}\n`;
    await writeFile(join(cwd, 'inputs.txt'), line.repeat(3_000));
    const { code, stderr, paths } = await submit(cwd, ['--map-over-file', 'inputs.txt', 'echo']);
    expect([code, paths]).toEqual([2, []]);
    expect(stderr).toContain('--map-over-file: the values have 515 MiB, and those of a job at most 256 MiB');
  });
});

it('splits the list at the delimiter of the command line, or of the header of the script', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'inputs.txt'), values.join(';'));
    await writeFile(join(cwd, 'work.sh'), '#!/bin/sh\n# ROPEWALK map-over-delimiter ;\n');
    const byHeader = await submit(cwd, ['--map-over-file', 'inputs.txt', 'work.sh']);
    expect(byHeader.sent).toMatchObject({ mapOver: { list: listOf(values) } });
    const given = await submit(cwd, ['--map-over-file', 'inputs.txt', '--map-over-delimiter', '\\n', 'work.sh']);
    expect([given.code, given.stderr]).toEqual([
      2,
      expect.stringContaining('--map-over-file: the value of task 0 has'),
    ]);
    expect(given.paths).toEqual([]);
  });
});
