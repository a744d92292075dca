// Notifications by e-mail, with a real SMTP server: the contents of a message, repetitions, order, bounds, and invalid addresses.
import { describe, expect, it } from 'vitest';

import { mailsPerHour } from '../../domain/notifications/mail.ts';
import { createMailer } from '../../platform/mail/smtp.ts';
import { notify } from '../../services/webhooks/notifications.ts';
import { smtpReceiver } from './smtp-receiver.ts';
import { createTestApi } from './support.ts';

const from = 'ropewalk@control.example';

async function open(port: number | null, credentials = '') {
  const mailer = port === null ? null : createMailer({ url: `smtp://${credentials}127.0.0.1:${port}`, from });
  const api = await createTestApi({ mailer });
  const token = await api.addToken('default', ['read', 'write', 'admin']);
  const call: typeof api.call = (method, path, options) => api.call(method, path, { token, ...options });
  const subscribe = async (url: string, more: object = {}) => {
    const reply = await call('POST', '/v1/webhooks', { body: { url, ...more } });
    return { status: reply.status, body: await reply.json() };
  };
  const deliver = async () => {
    await api.deps.webhooks.round();
    await api.deps.webhooks.settled();
  };
  const say = (object: string, text: string) =>
    notify(api.deps, { workspace: 'default', type: 'job.failed', object, text, data: {} });
  const deliveries = async () => (await (await call('GET', '/v1/webhook-deliveries')).json()).items;
  return { ...api, call, subscribe, deliver, say, deliveries, [Symbol.dispose]: () => mailer?.close() };
}

describe('an address that is subscribed', () => {
  it('gets a message in plain text that says what happened, and how the messages end', async () => {
    const { received, port } = await smtpReceiver();
    using api = await open(port);
    const made = await api.subscribe('mailto:ada@example.com', { events: ['job.*'] });
    expect(made).toMatchObject({ status: 201, body: { origin: 'mailto:ada@example.com', format: 'email' } });
    await api.say('job/12', 'Job 12 (train) has failed: 1 of 10 tasks failed');
    await api.deliver();
    expect(received).toMatchObject([{ from, to: ['ada@example.com'] }]);
    const raw = received[0]?.raw ?? '';
    expect(raw).toContain('\r\nTo: ada@example.com\r\n');
    expect(raw.replace(/\r\n[ \t]/g, ' ')).toContain(
      '\r\nSubject: [ropewalk default] Job 12 (train) has failed: 1 of 10 tasks failed\r\n',
    );
    expect(raw).toContain('\r\nContent-Type: text/plain; charset=utf-8\r\n');
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw.replaceAll('=\r\n', '')).toContain(`ropewalk webhook delete ${made.body.id}`);
    expect(await api.deliveries()).toMatchObject([{ state: 'delivered', status: 250, attempts: 1 }]);
  });

  it('gets no header, no second receiver and no control character from the text of a user', async () => {
    const { received, port } = await smtpReceiver();
    using api = await open(port);
    await api.subscribe('mailto:ada@example.com');
    await api.say(
      'job/1',
      'first\r\nBcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>\u001b[31m\u202e\u0000',
    );
    await api.say('job/2', 'x'.repeat(5_000));
    await api.deliver();
    expect(received.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
    const [headers = '', body = ''] = (received.find(({ raw }) => raw.includes('first'))?.raw ?? '').split(
      '\r\n\r\n',
      2,
    );
    expect(headers).toMatch(/^Subject: \[ropewalk default\] first$/m);
    expect(headers).not.toMatch(/eve@example/);
    expect(body).toContain('Bcc: eve@example.com');
    // Control characters are quoted in this encoding.
    expect(body).not.toMatch(/=1B|=00|=E2=80=AE/);
  });

  it('gets a message again after a refusal that may pass, with the same id, and the next of the same object after it', async () => {
    const later = { code: 451, text: 'try again' };
    const { received, attempts, port } = await smtpReceiver((count) => (count === 1 ? later : null));
    using api = await open(port);
    await api.subscribe('mailto:ada@example.com');
    await api.say('job/1', 'one');
    await api.say('job/1', 'two');
    await api.deliver();
    expect([attempts(), received.length]).toEqual([1, 0]);
    expect((await api.deliveries())[1]).toMatchObject({
      state: 'pending',
      status: 451,
      error: 'the mail server: EENVELOPE',
    });
    api.clock.offsetMs += 5_000;
    await api.deliver();
    await api.deliver();
    expect(received.map(({ raw }) => /\] (one|two)\r\n/.exec(raw)?.[1])).toEqual(['one', 'two']);
    const ids = received.map(({ raw }) => /^Message-ID: <(.*)>/im.exec(raw)?.[1]);
    expect(ids[0]).toMatch(/^msg_\d+\.wh_.*@control\.example$/);
    expect(ids[1]).not.toBe(ids[0]);
  });

  it('gets nothing more of a message that its server refuses for good', async () => {
    const { attempts, port } = await smtpReceiver(() => ({ code: 550, text: 'no such user' }));
    using api = await open(port);
    await api.subscribe('mailto:gone@example.com');
    await api.say('job/1', 'one');
    await api.deliver();
    api.clock.offsetMs += 86_400_000;
    await api.deliver();
    expect(attempts()).toBe(1);
    expect(await api.deliveries()).toMatchObject([{ state: 'failed', status: 550, attempts: 1, nextAttemptAt: null }]);
  });

  it(`gets at most ${mailsPerHour} messages in an hour with all others of the workspace, and the rest in the next`, async () => {
    const { received, port } = await smtpReceiver();
    using api = await open(port);
    await api.subscribe('mailto:ada@example.com');
    await api.subscribe('mailto:bob@example.com');
    const half = mailsPerHour / 2;
    for (let nth = 0; nth < half + 2; nth += 1) await api.say(`job/${nth}`, `message ${nth}`);
    for (let round = 0; round < 5; round += 1) await api.deliver();
    expect(received).toHaveLength(mailsPerHour);
    const waiting = (await api.deliveries()).filter(({ state }: { state: string }) => state === 'pending');
    expect(waiting).toHaveLength(4);
    expect(waiting[0]).toMatchObject({ attempts: 0 });
    api.clock.offsetMs += 3_600_000;
    await api.deliver();
    expect(received).toHaveLength(mailsPerHour + 4);
  });
});

describe('a mail server', () => {
  it('gets no password over a connection without TLS, and none is said', async () => {
    let heard = 0;
    const { received, port } = await smtpReceiver(() => null, {
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (_, __, callback) => {
        heard += 1;
        callback(null, { user: 'ropewalk' });
      },
    });
    // To the client, this name of the machine is not its loopback address.
    const mailer = createMailer({ url: `smtp://ropewalk:s3cret@0.0.0.0:${port}`, from });
    const sent = await mailer.send({ to: 'ada@example.com', subject: 's', text: 't', messageId: 'm' });
    mailer.close();
    expect(sent).toMatchObject({ isFinal: false, error: expect.stringMatching(/^the mail server: E[A-Z]+$/) });
    expect([heard, received.length]).toEqual([0, 0]);
  });

  it('that does not answer costs no message', async () => {
    using api = await open(9);
    await api.subscribe('mailto:ada@example.com');
    await api.say('job/1', 'one');
    await api.deliver();
    expect(await api.deliveries()).toMatchObject([
      { state: 'pending', status: null, error: 'the mail server: ESOCKET' },
    ]);
  });
});

describe('what cannot be subscribed', () => {
  it.each([
    'mailto:ada@example.com,eve@example.com',
    'mailto:ada@example.com?bcc=eve@example.com',
    'mailto:ada@example.com\r\nBcc: eve@example.com',
    'mailto:Ada <ada@example.com>',
    'mailto:ada@localhost',
    'mailto:.ada@example.com',
    'mailto:ada@-example.com',
    `mailto:${'a'.repeat(65)}@example.com`,
    'mailto:',
  ])('%j', async (url) => {
    using api = await open(9);
    expect(await api.subscribe(url)).toMatchObject({
      status: 422,
      body: { error: { code: 'VALIDATION', field: 'url' } },
    });
  });

  it('is an address in the form of a webhook, a webhook in the form of a message, or any address without a mail server', async () => {
    using api = await open(9);
    const form = { status: 422, body: { error: { code: 'VALIDATION', field: 'format' } } };
    expect(await api.subscribe('mailto:ada@example.com', { format: 'slack' })).toMatchObject(form);
    expect(await api.subscribe('https://example.com/', { format: 'email' })).toMatchObject(form);
    using without = await open(null);
    expect((await without.subscribe('mailto:ada@example.com')).body.error).toMatchObject({
      code: 'VALIDATION',
      hint: expect.stringContaining('ROPEWALK_SMTP_URL'),
    });
  });
});
