// Both ends of one TLS connection on loopback, as tests need them: mutual, TLS 1.3, and with an answer that shows whether each
// side accepted the other. With TLS 1.3 a client learns of the server's refusal only from its first bytes.
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

export interface Identity {
  certificatePem: string;
  keyPem: string;
  /** The authority that this side trusts. */
  caPem: string;
}

/** 'welcome' when both sides accepted each other, else the error that the client received. */
export async function handshake(server: Identity, client: Identity): Promise<string> {
  return withServer(server, async (port) => {
    const options = { ...material(client), host: '127.0.0.1', port, rejectUnauthorized: true };
    return firstBytes(connect(options));
  });
}

/** The answer to a client without TLS. */
export async function plaintext(server: Identity): Promise<string> {
  return withServer(server, async (port) => {
    const socket = connectPlain({ host: '127.0.0.1', port });
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return firstBytes(socket);
  });
}

async function withServer(identity: Identity, use: (port: number) => Promise<string>): Promise<string> {
  const sockets = new Set<TLSSocket>();
  const server = createServer(
    { ...material(identity), requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
    (socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.write('welcome');
    },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    return await use(addressOf(server.address()).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

function firstBytes(socket: Socket): Promise<string> {
  return new Promise<string>((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
    socket.once('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('closed'));
  }).finally(() => socket.destroy());
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

const material = ({ certificatePem, keyPem, caPem }: Identity): { cert: string; key: string; ca: string } => ({
  cert: certificatePem,
  key: keyPem,
  ca: caPem,
});
