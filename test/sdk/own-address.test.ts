// `me` as a source of connections: the client replaces it by the address that an external service reports.
import { describe, expect, it } from 'vitest';

import { ConfigurationError, createClient } from '../../sdk/client.ts';

function clientBehind(answer: () => Response) {
  const sent: { url: string; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url.startsWith('https://address.example')) {
      sent.push({ url, body: null });
      return answer();
    }
    sent.push({ url, body: typeof init?.body === 'string' ? JSON.parse(init.body) : null });
    return Response.json({ number: 1, name: 'c', existing: false, warnings: [] }, { status: 201 });
  };
  const connection = { apiUrl: 'http://api.example', token: 't', addressUrl: 'https://address.example/', fetch };
  return { client: createClient(connection), sent };
}

describe('me', () => {
  it('becomes the public address of this machine, asked for once, among other sources too', async () => {
    const { client, sent } = clientBehind(() => new Response('203.0.113.9\n'));
    await client.clusters.create({ allowIngressFrom: 'me, 10.0.0.0/8', allowSshFrom: 'me' }, { idempotencyKey: 'a' });
    await client.clusters.plan({ allowIngressFrom: 'me', openPorts: { 9000: '10.0.0.0/8,me', 9001: 'everyone' } });
    await client.jobs.create({ command: ['true'], allowSshFrom: 'me' }, { idempotencyKey: 'b' });
    await client.jobs.plan({ command: ['true'], allowSshFrom: '10.0.0.1' });
    expect(sent.map(({ body }) => body)).toEqual([
      null,
      { allowIngressFrom: '203.0.113.9, 10.0.0.0/8', allowSshFrom: '203.0.113.9' },
      { allowIngressFrom: '203.0.113.9', openPorts: { 9000: '10.0.0.0/8,203.0.113.9', 9001: 'everyone' } },
      { command: ['true'], allowSshFrom: '203.0.113.9' },
      { command: ['true'], allowSshFrom: '10.0.0.1' },
    ]);
  });

  it('sends nothing when the address cannot be found, and says what to do', async () => {
    const { client, sent } = clientBehind(() => new Response('<html>proxy</html>', { status: 403 }));
    const refused = client.clusters.create({ allowIngressFrom: 'me' });
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow('ROPEWALK_ADDRESS_URL');
    expect(sent.every(({ url }) => url.startsWith('https://address.example'))).toBe(true);
  });
});
