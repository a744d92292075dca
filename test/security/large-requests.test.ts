// A request of many MiB occupies the API's process for a while: it is processed in pieces.
import { expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { turnsDuring } from '../support/event-loop-turns.ts';

it('a script of 11.5 MB gives other requests their turn while it is read, sealed and hashed', async () => {
  const api = await createTestApi();
  const content = Buffer.alloc(11_500_000, '\r').toString('base64');
  const body = JSON.stringify({ command: ['./a'], files: [{ path: 'a', content }] });
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  const turns = await turnsDuring(async () => {
    expect((await api.call('POST', '/v1/jobs', { headers, body })).status).toBe(201);
  });
  expect(turns).toBeGreaterThanOrEqual(30);
});
