// HTTPS of the agent, as instances of a cloud use it: only with servers that the machine trusts, over kept connections.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { sendHttp } from '../../agent/api-client/http.ts';
import { createClusterCa, issueLeafAndKey, type ClusterCa } from '../../platform/pki/cluster-ca.ts';

const trusted = getCACertificates('default');
let ca: ClusterCa;
let server: Server;
let url: URL;
const ports = new Set<number | undefined>();

beforeAll(async () => {
  ca = await createClusterCa({ cluster: 'https', validDays: 1 });
  const leaf = await issueLeafAndKey({ ca, role: 'scheduler', subject: 'api', addresses: ['127.0.0.1'], validDays: 1 });
  server = createServer({ cert: leaf.certificatePem, key: leaf.keyPem.reveal() }, (request, response) => {
    ports.add(request.socket.remotePort);
    request.pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  url = new URL(`https://127.0.0.1:${address.port}/`);
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
});

const post = (body: string) =>
  sendHttp(url, { method: 'POST', headers: {}, body, signal: new AbortController().signal });

it('sends nothing to a server that the machine does not trust', async () => {
  await expect(post('secret')).rejects.toThrow(/certificate/);
  expect(ports.size).toBe(0);
});

it('brings a body there and the answer back, over one connection', async () => {
  setDefaultCACertificates([...trusted, ca.certificatePem]);
  for (const body of ['first', 'x'.repeat(300_000)]) expect((await post(body)).text).toBe(body);
  expect(ports.size).toBe(1);
});
