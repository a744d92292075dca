// Large answers to browsers are compressed if the browser accepts it: the application's files, and the states of many tasks.
import { gunzipSync } from 'node:zlib';

import { expect, it, vi } from 'vitest';

import { endTasks } from '../builders/end-tasks.ts';
import { createTestApi } from './support.ts';

const js = 'const a = 1;\n'.repeat(500);
const web = { version: 'abc', html: '<p>', js, css: 'p {}' };

it('the script is sent compressed, or as it is, with the headers of an unchanging file', async () => {
  const api = await createTestApi({ web });
  const ask = async (encoding: string): Promise<Response> =>
    api.app.request('/assets/abc.js', { headers: { 'accept-encoding': encoding } });
  const compressed = await ask('br, gzip');
  expect(Object.fromEntries(compressed.headers)).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  });
  const bytes = Buffer.from(await compressed.arrayBuffer());
  expect([bytes.byteLength < js.length / 10, gunzipSync(bytes).toString()]).toEqual([true, js]);
  for (const encoding of ['identity', '', 'br', 'gzip;q=0', 'xgzip']) {
    const plain = await ask(encoding);
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, js]);
  }
  for (const encoding of ['gzip', 'GZIP;q=0.5', 'br;q=1.0, gzip;q=0.8, *;q=0.1'])
    expect((await ask(encoding)).headers.get('content-encoding')).toBe('gzip');
});

it('the script is compressed once, however often it is asked for: who asks needs no token', async () => {
  const api = await createTestApi({ web });
  const compressing = vi.spyOn(globalThis, 'CompressionStream');
  for (let n = 0; n < 3; n += 1) {
    const answer = await api.app.request('/assets/abc.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(js);
  }
  expect(compressing).not.toHaveBeenCalled();
  compressing.mockRestore();
});

it('so are the states of tasks, and no answer with what a user wrote', async () => {
  const api = await createTestApi({ web });
  const number = await api.submit({ ntasks: 400 });
  const job = api.workflows.jobs.get(number);
  if (job === undefined) throw new Error('no job');
  const even = Array.from({ length: 200 }, (_, index) => 2 * index);
  endTasks(job, even, () => ({ exitCode: 0, startedAtMs: api.now(), endedAtMs: api.now() }));
  const ask = async (path: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${api.token}`, 'accept-encoding': 'gzip' };
    return api.app.request(path, { headers });
  };
  const states = await ask(`/v1/jobs/${number}/task-states`);
  expect(states.headers.get('content-encoding')).toBe('gzip');
  const { runs }: { runs: object[] } = JSON.parse(gunzipSync(Buffer.from(await states.arrayBuffer())).toString());
  expect(runs).toHaveLength(400);
  const view = await ask(`/v1/jobs/${number}/tasks`);
  expect([view.headers.get('content-encoding'), (await view.text()).length > 1_024]).toEqual([null, true]);
});
