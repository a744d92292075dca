// Sends one message by the operator's mail server. Its URL contains a password: no error text includes it, and it is never sent
// over a connection without TLS.
import { isIP } from 'node:net';

import { createTransport } from 'nodemailer';

export interface OutgoingMail {
  /** One address, checked by domain/notifications/mail.ts. */
  to: string;
  subject: string;
  text: string;
  /** The same for each attempt, by which a receiver recognizes a duplicate. */
  messageId: string;
}

/** `status` is an SMTP status, e.g. 250 or 550. `isFinal`: the server refuses this message or its receiver for good. */
export type MailAnswer = { isFinal: boolean } & (
  | { status: number; error: string | null }
  | { status: null; error: string }
);

export interface Mailer {
  /** Never rejects. */
  send(mail: OutgoingMail): Promise<MailAnswer>;
  /** Messages that still wait for a connection end with an error. */
  close(): void;
}

const timeoutMs = 15_000;

/** `from` is an address, or a name with an address in angle brackets. */
export function createMailer({ url, from }: { url: string; from: string }): Mailer {
  const { protocol, hostname, username } = new URL(url);
  const needsTls = protocol === 'smtp:' && username !== '' && !isLoopback(hostname);
  const transport = createTransport({
    ...{ url, pool: true, maxConnections: 2 },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs },
    ...(needsTls ? { requireTLS: true } : {}),
    // Content is text only: a message never reads a file or a URL.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  return {
    async send({ to, subject, text, messageId }) {
      try {
        const host = /@([^>\s]+)>?$/.exec(from)?.[1] ?? 'ropewalk.invalid';
        const sent = await transport.sendMail({
          ...{ from, subject, text, messageId: `<${messageId}@${host}>` },
          // Passed as an object: a text would be parsed, and could contain several receivers.
          to: { name: '', address: to },
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return { status: Number(/^\d{3}/.exec(sent.response)?.[0] ?? 250), error: null, isFinal: false };
      } catch (error) {
        return answerOf(error);
      }
    },
    close: () => transport.close(),
  };
}

function answerOf(error: unknown): MailAnswer {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
  const said: unknown = error instanceof Error && 'responseCode' in error ? error.responseCode : null;
  const status = typeof said === 'number' ? said : null;
  // Errors about the sender's password or the server's state may pass.
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isFinal = isAboutMail && status !== null && status >= 500;
  const text = `the mail server: ${typeof code === 'string' ? code : 'failed'}`;
  return status === null ? { status, error: text, isFinal } : { status, error: text, isFinal };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
