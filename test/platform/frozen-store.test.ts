// An object store whose server hangs: it accepts connections and never answers, as after SIGSTOP. Every request fails with an
// error that names this, after three attempts, instead of blocking its caller.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createGcsClient } from '../../platform/objects/gcs-client.ts';
import { createGcsFiles } from '../../platform/objects/gcs-files.ts';
import { createGcsObjects } from '../../platform/objects/gcs.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { createS3Client, createS3Objects } from '../../platform/objects/s3.ts';

let server: Server;
let sockets: Socket[];
/** Each attempt is on a connection of its own. */
let attempts: number;
let endpoint: string;
beforeEach(async () => {
  sockets = [];
  attempts = 0;
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => (attempts += 1)).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

const silenceMs = 100;
const gcs = () =>
  createGcsClient(
    { kind: 'gs', bucket: 'b', prefix: '', endpoint, signing: null },
    { accessToken: async () => 't', pauseMs: 1, answerWithinMs: silenceMs },
  );
const stores: Record<string, () => Objects> = {
  S3: () => {
    const location = { kind: 's3' as const, bucket: 'b', prefix: '', region: null, endpoint, pathStyle: true };
    return createS3Objects(location, createS3Client(location, { accessKeyId: 'a', secretAccessKey: 's' }, silenceMs));
  },
  'Cloud Storage': () => createGcsObjects({ kind: 'gs', bucket: 'b', prefix: '', endpoint, signing: null }, gcs()),
};

const requests: Record<string, (objects: Objects) => Promise<unknown>> = {
  get: (objects) => objects.get('x'),
  put: (objects) => objects.put('x', Buffer.from('x')),
  create: (objects) => objects.create('x', Buffer.from('x')),
  delete: (objects) => objects.delete('x'),
  list: (objects) => objects.list('', { limit: 1 }),
};

describe.each(Object.entries(stores))('a server of %s that hangs', (_, open) => {
  it.each(Object.entries(requests))('is unavailable for %s after three attempts', async (_name, request) => {
    await expect(request(open())).rejects.toMatchObject({
      problem: {
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/^The object store does not answer: .* did not answer in time\.$/),
      },
    });
    expect(attempts).toBe(3);
  });
});

it('a file is not fetched from Cloud Storage that hangs', async () => {
  const files = createGcsFiles({ kind: 'gs', bucket: 'b', prefix: '', endpoint, signing: null }, gcs());
  await expect(files.read('x')).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
});
