// A request of many MiB occupies the API's process for a while: it is read in a thread, and processed in pieces.
import { request } from 'node:http';

import { serve, type ServerType } from '@hono/node-server';
import { describe, expect, it } from 'vitest';

import { createTestApi, type TestApi } from '../api/support.ts';
import { turnsDuring } from '../support/event-loop-turns.ts';
import { eventually } from '../support/eventually.ts';

const file = (content: string, path = 'a') => ({ path, content });
const large = Buffer.alloc(11_500_000, '\r').toString('base64');
const text = (body: object): string => JSON.stringify({ command: ['./a'], ...body });

/** With the length, which every client sends. */
const post = (api: TestApi, body: string, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/jobs', { body, headers: { 'content-length': String(Buffer.byteLength(body)), ...headers } });
/** A body of unknown length is not read in the thread. */
const postWithoutThread = (api: TestApi, body: string, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/jobs', { body, headers });

async function bundleOf(api: TestApi): Promise<Record<string, unknown>> {
  const [key = ''] = api.objects.keys().filter((name) => name.startsWith('vault/'));
  return JSON.parse(Buffer.from((await api.vault.open(key)) ?? []).toString());
}

describe('a job with large files', () => {
  it('gives other requests their turn while it is read, sealed and hashed', async () => {
    const api = await createTestApi();
    const body = text({ files: [file(large)] });
    const turns = await turnsDuring(async () => expect((await post(api, body)).status).toBe(201));
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  it('gets them as they were sent, in their order, beside small ones', async () => {
    const api = await createTestApi();
    const files = [
      file(Buffer.from('small').toString('base64'), 'a'),
      file(Buffer.alloc(300_001, 'b').toString('base64'), 'b'),
      file('', 'c'),
      file(Buffer.alloc(100_000, 'd').toString('base64'), 'd'),
    ];
    const body = text({ files, env: { WORD: 'gr\u00fcn \u{1F600}', LONG: 'x'.repeat(30_000) } });
    expect((await post(api, body)).status).toBe(201);
    const bundle = await bundleOf(api);
    expect(bundle).toMatchObject({ command: ['./a'], env: { WORD: 'gr\u00fcn \u{1F600}' } });
    expect(bundle['files']).toEqual(
      files.map(({ path, content }) => ({ path, contentBase64: content, executable: false })),
    );
  });

  it('is the same request as one of the same meaning that was read without the thread', async () => {
    const api = await createTestApi();
    const headers = { 'idempotency-key': 'one' };
    const body = text({ files: [file(large)] });
    expect((await post(api, body, headers)).status).toBe(201);
    expect((await postWithoutThread(api, body, headers)).status).toBe(200);
    const other = text({ files: [file(`${large.slice(0, -4)}DQ0O`)] });
    expect((await post(api, other, headers)).status).toBe(409);
  });

  it('has its header read, and its first lines checked', async () => {
    const api = await createTestApi();
    const script = (start: string) => file(Buffer.from(`${start}\n`.padEnd(400_000, '#')).toString('base64'));
    expect((await post(api, text({ files: [script('#!/bin/bash\n# ROPEWALK ntasks 7')] }))).status).toBe(201);
    expect(api.workflows.jobs.get(1)?.settings.taskCount).toBe(7);
    expect((await post(api, text({ files: [script('#!/bin/bash\r')] }))).status).toBe(422);
  });

  it.each([
    ['base64 with a fault in it', text({ files: [file(`${large.slice(0, 500_000)}!!!!`)] })],
    ['no JSON', `${text({ files: [file(large)] })}}`],
    ['a list', `[${text({ files: [file(large)] })}]`],
    ['files that are no list', text({ files: large })],
    ['a file that is a text', text({ files: [large] })],
    ['an unknown field', text({ files: [{ ...file(large), mode: 1 }] })],
    ['a path that leaves the directory', text({ files: [file(large, '../a')] })],
    ['one path twice', text({ files: [file(large), file(large.slice(0, 400_000))] })],
    ['a wrong option', text({ files: [file(large)], ntasks: 0 })],
  ])('is refused as without the thread: %s', async (_what, body) => {
    const api = await createTestApi();
    const answers = [await post(api, body), await postWithoutThread(api, body)];
    const [first, second] = await Promise.all(
      answers.map(async (answer) => ({
        status: answer.status,
        error: { ...(await answer.json()).error, requestId: '' },
      })),
    );
    expect(first?.status).toBe(422);
    expect(first).toEqual(second);
  });

  it('comes over a connection, and one that breaks in the middle of its body does no harm', async () => {
    const api = await createTestApi();
    const server = await new Promise<ServerType>((resolve) => {
      const started = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
    });
    try {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const body = text({ files: [file(large)] });
      const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
      const sized = { ...headers, 'content-length': String(body.length) };
      const broken = request({ host: '127.0.0.1', port, method: 'POST', path: '/v1/jobs', headers: sized });
      broken.on('error', () => undefined);
      broken.write(body.slice(0, 5_000_000));
      await eventually(async () => (broken.writableLength === 0 ? true : null));
      broken.destroy();
      await eventually(async () => (api.logged.some((line) => line.includes('"status":499')) ? true : null));
      expect(api.logged.join('')).not.toContain('a request failed');
      const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs`, { method: 'POST', headers, body });
      expect(answer.status).toBe(201);
      expect((await bundleOf(api))['files']).toEqual([{ path: 'a', contentBase64: large, executable: false }]);
    } finally {
      server.close();
    }
  });

  it('leaves no content in the log', async () => {
    const api = await createTestApi();
    const secret = Buffer.alloc(300_000, 'swordfish').toString('base64');
    await post(api, text({ files: [file(secret)] }));
    await post(api, text({ files: [file(`${secret}!`)] }));
    expect(api.logged.join('')).not.toContain(secret.slice(0, 40));
  });
});
