// Over a real socket: a stream of lines that fails sends the reason before it is cut.
import type { AddressInfo } from 'node:net';

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, it } from 'vitest';

import { ndjsonStream } from '../../api/routes/ndjson.ts';

async function* failing() {
  yield { line: 1 };
  throw new Error('no longer');
}

it('its reader gets the last line, and no end', async () => {
  const app = new Hono().get('/', () => {
    const onError = (error: unknown) => ({ error: String(error) });
    return new Response(ndjsonStream(failing(), { leave: () => undefined, onError }));
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    for (let round = 0; round < 20; round += 1) {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const read: string[] = [];
      const readAll = async () => {
        for await (const piece of answer.body ?? []) read.push(Buffer.from(piece).toString());
      };
      await expect(readAll()).rejects.toThrow('terminated');
      expect(read.join('')).toBe('{"line":1}\n{"error":"Error: no longer"}\n');
    }
  } finally {
    server.close();
  }
});
