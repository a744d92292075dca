// The command's errors when files cannot be transferred: the obstructing place of this machine, or the answer.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import type { ReceivedRequest, Reply } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const content = 'of task 0\n';
const sha256 = createHash('sha256').update(content).digest('hex');
const file = { path: 'out.txt', sha256, bytes: content.length, executable: false };
const listed = { ...file, job: 12, task: 0, storedAt: '2026-11-23T12:00:00.000Z' };
const created = { number: 12, name: 'job-12', existing: false, warnings: [] };

let cwd = '';
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'ropewalk-transfer-'));
});
afterEach(() => rm(cwd, { recursive: true }));

/** An API that has one file of job 12. */
function replies({ method, path }: ReceivedRequest): Reply {
  if (path.endsWith('/files')) return { json: { items: [listed], next: null } };
  if (path === '/v1/file-downloads') return { json: { downloads: [{ sha256, isStored: true, url: null }] } };
  if (method === 'GET' && path.startsWith('/v1/file-blobs/')) return { chunks: [content] };
  return { json: created };
}

it('names the file that is where a directory of --download is needed, and calls it no bug', async () => {
  await writeFile(join(cwd, 'taken'), 'mine');
  const { env } = await standIn(replies);
  const { code, stderr } = await callCli(['batch', 'files', '12', '--download', 'taken'], { env, cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^error: cannot download into \S+\/taken: .*a file is where a directory is needed\n/),
  });
  expect(stderr).not.toContain('bug');
});

it('submits nothing when the place of --download cannot be made', async () => {
  await writeFile(join(cwd, 'taken'), 'mine');
  const { api, env } = await standIn(replies);
  const { code } = await callCli(['batch', 'run', '--wait', '--download', 'taken', 'true'], { env, cwd });
  expect([code, api.requests.filter(({ method }) => method === 'POST')]).toEqual([1, []]);
});

it('names the directory that is where a file is needed', async () => {
  await mkdir(join(cwd, 'into', 'out.txt', 'full'), { recursive: true });
  const { env } = await standIn(replies);
  const { code, stderr } = await callCli(['batch', 'files', '12', '--download', 'into'], { env, cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining('out.txt: a directory is where a file is needed\n')]);
  expect(stderr).not.toContain('bug');
});

it.each(['--download', '--sync'])('refuses an empty %s, which an unset variable gives', async (option) => {
  const { api, env } = await standIn(replies);
  const { code, stderr } = await callCli(['batch', 'run', '--wait', option, '', 'true'], { env, cwd });
  expect([code, stderr, api.requests]).toEqual([2, expect.stringContaining('variable'), []]);
});

it('removes what a download that was killed long ago has left, and leaves what a running one may need', async () => {
  const old = join(cwd, '.ropewalk-0123456789abcdef.part');
  await writeFile(old, 'half');
  await utimes(old, new Date(0), new Date(0));
  await writeFile(join(cwd, '.ropewalk-fedcba9876543210.part'), 'half');
  const { env } = await standIn(replies);
  const { code, stderr } = await callCli(['batch', 'files', '12', '--download', '.'], { env, cwd });
  expect([code, stderr]).toEqual([0, expect.stringContaining('Downloading 1 file: 100 %\n')]);
  expect((await readdir(cwd)).toSorted()).toEqual(['.ropewalk-fedcba9876543210.part', 'out.txt']);
});

it('prints what was answered when an upload is refused again and again', { timeout: 60_000 }, async () => {
  await writeFile(join(cwd, 'big'), Buffer.alloc(11 * 1_048_576));
  const message = 'The object store cannot take anything: its disk is full.';
  const { api, env } = await standIn(({ path, body }) => {
    if (path.startsWith('/v1/file-blobs/')) return { status: 503, json: { error: { code: 'UNAVAILABLE', message } } };
    const { files = [] } = Object(body);
    return { json: { uploads: files.map((each: object) => ({ ...each, url: null, headers: {} })) } };
  });
  const { code, stderr } = await callCli(['batch', 'run', '--upload', 'big', 'true'], { env, cwd });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`error: cannot upload the files: the answer was 503: ${message}\n`),
  ]);
  expect(stderr).not.toContain('bug');
  expect(api.requests.some(({ path }) => path === '/v1/jobs')).toBe(false);
});

it('says what of a directory is not sent, and never sends a half-downloaded file', async () => {
  const data = join(cwd, 'data');
  await mkdir(join(data, 'empty'), { recursive: true });
  await symlink('nowhere', join(data, 'dangling'));
  await writeFile(join(data, 'in.txt'), 'in');
  await writeFile(join(data, '.ropewalk-0123456789abcdef.part'), 'half');
  const { api, env } = await standIn(replies);
  const { stderr } = await callCli(['batch', 'run', '--upload', 'data', 'true'], { env, cwd });
  expect(stderr).toContain(
    'note: not sent of data: dangling (a link to nothing), empty/ (an empty directory: a task that needs it makes it)\n',
  );
  const { body } = api.requests.find(({ path }) => path === '/v1/jobs') ?? {};
  expect(body).toMatchObject({ files: [{ path: 'in.txt' }] });
});
