// Signing in by a link in an e-mail in a real browser, with a real SMTP server.
import { afterEach, describe, expect, it } from 'vitest';

import { createMailer, type Mailer } from '../../platform/mail/smtp.ts';
import { linkIn } from '../api/sign-in-mail-support.ts';
import { smtpReceiver, type ReceivedMail } from '../api/smtp-receiver.ts';
import { createTestApi } from '../api/support.ts';
import { hasChromium } from './chromium.ts';
import { useWebApp } from './web-app.ts';

const address = 'ann@example.com';

describe.runIf(hasChromium)('signing in by a link in an e-mail', () => {
  let received: ReceivedMail[];
  let mailer: Mailer;
  const app = useWebApp(async ({ bundle, origin }) => {
    const receiver = await smtpReceiver();
    received = receiver.received;
    mailer = createMailer({ url: `smtp://127.0.0.1:${receiver.port}`, from: 'ropewalk@control.example' });
    const mailSignIn = { mailer, sessionMs: 3_600_000 };
    const api = await createTestApi({ web: bundle, publicUrl: origin, mailer, mailSignIn });
    await api.store.people.putUser('default', { name: address, role: 'member', by: null }, api.now());
    return api;
  });
  const { complaints } = app;
  afterEach(() => mailer?.close());
  const button = () => app.page.getByRole('button', { name: 'Send me a link to sign in' });
  const request = async (): Promise<string> => {
    await app.page.getByLabel('Your e-mail address').fill(address);
    await button().click();
    await app.page.getByText('is on its way').waitFor();
    await app.api.deps.linkMails.settled();
    return linkIn(received).href;
  };

  it('leads from the message, in another tab, to the opened address, and leaves no secret behind', async () => {
    await app.page.goto('/jobs?q=train');
    await button().waitFor();
    await app.accessible('sign-in-mail');
    const link = await request();
    await app.accessible('sign-in-mail-requested');
    const tab = await app.page.context().newPage();
    tab.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    await tab.goto(link);
    const field = tab.getByLabel('Link from the e-mail');
    expect(await field.inputValue()).toBe(new URL(link).hash.slice(1));
    expect(new URL(tab.url()).hash).toBe('');
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.getByText('ann@example.com in default').waitFor();
    const { pathname, search, hash } = new URL(tab.url());
    expect(`${pathname}${search}${hash}`).toBe('/jobs?q=train');
    const cookies = await tab.context().cookies();
    expect([cookies, await tab.evaluate(() => localStorage.length)]).toEqual([[], 0]);
    // The link has been used.
    await app.page.goto(link);
    await app.page.getByRole('button', { name: 'Sign in' }).click();
    await app.page.getByText('requested in another browser').waitFor();
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });

  it('opens in no other browser, which says so, and is not used up by it', async () => {
    await app.page.goto('/');
    const link = await request();
    const browser = app.page.context().browser();
    if (browser === null) throw new Error('no browser');
    const other = await (await browser.newContext()).newPage();
    await other.goto(link);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByText('requested in another browser').waitFor();
    await other.context().close();
    await app.page.goto(link);
    await app.accessible('sign-in-mail-link');
    await app.page.getByRole('button', { name: 'Sign in' }).click();
    await app.page.getByText('ann@example.com in default').waitFor();
    expect(complaints).toEqual([]);
  });

  it('lets a person of several workspaces choose', async () => {
    const eve = await app.api.addToken('other', ['read', 'write', 'admin'], 'eve');
    await app.api.call('PUT', `/v1/users/${address}`, { body: { role: 'read-only' }, token: eve });
    await app.page.goto('/');
    await app.page.goto(await request());
    await app.page.getByRole('button', { name: 'Sign in' }).click();
    await app.page.getByRole('heading', { name: 'Choose a workspace' }).waitFor();
    await app.accessible('sign-in-mail-choice');
    await app.page.getByRole('button', { name: 'other' }).click();
    await app.page.getByText('ann@example.com in other').waitFor();
    expect(complaints).toEqual([]);
  });

  it('approves a terminal', async () => {
    const body = { client: 'ropewalk on laptop' };
    const begun = await app.api.call('POST', '/v1/login/device', { token: null, body });
    const { userCode, deviceCode } = await begun.json();
    await app.page.goto(`/login?code=${userCode}`);
    await app.accessible('login-code-mail');
    const link = await request();
    await app.page.goto(link);
    await app.page.getByRole('button', { name: 'Sign in' }).click();
    await app.page.getByText('ropewalk on laptop').waitFor();
    await app.page.getByRole('button', { name: 'Approve' }).click();
    await app.page.getByText('The device is signed in as ann@example.com').waitFor();
    const token = await app.api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } });
    expect(await token.json()).toMatchObject({ user: address, scopes: ['read', 'write'] });
    expect(complaints).toEqual([]);
  });
});
