// A real SMTP server on this machine, which keeps the messages; it ends with the test.
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach } from 'vitest';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and text as sent. */
  raw: string;
}

const servers: SMTPServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** `answer`: the reply to the nth message; null accepts it. */
export async function smtpReceiver(
  answer: (count: number) => { code: number; text: string } | null = () => null,
  options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] },
): Promise<{ received: ReceivedMail[]; attempts: () => number; port: number }> {
  const received: ReceivedMail[] = [];
  let attempts = 0;
  const server = new SMTPServer({
    ...options,
    onRcptTo: (_, __, callback) => {
      attempts += 1;
      const refused = answer(attempts);
      callback(refused === null ? null : Object.assign(new Error(refused.text), { responseCode: refused.code }));
    },
    onData: (stream, session, callback) => {
      const { mailFrom, rcptTo } = session.envelope;
      void text(stream).then((raw) => {
        const from = mailFrom === false ? '' : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), raw });
        callback(null);
      });
    },
  });
  server.on('error', () => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return { received, attempts: () => attempts, port };
}
