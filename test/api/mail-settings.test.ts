// The environment of the operator's mail server.
import { expect, it } from 'vitest';

import { openMailer } from '../../api/mail-settings.ts';
import { readSettings } from '../../api/settings.ts';

const good = { ROPEWALK_PORT: '7300', ROPEWALK_HOST_ID: 'host_1' };
const url = 'smtps://ropewalk:canary@smtp.example.com';
const from = 'ropewalk@example.com';

it('is read from a variable or a file, with a sender', () => {
  expect(readSettings(good).mail).toBeNull();
  const given = { ...good, ROPEWALK_MAIL_FROM: from };
  expect(readSettings({ ...given, ROPEWALK_SMTP_URL: url }).mail).toEqual({
    ...{ url: { text: url }, from, signsIn: false },
  });
  const file = '/etc/ropewalk/smtp-url';
  expect(readSettings({ ...given, ROPEWALK_SMTP_URL_FILE: file }).mail).toEqual({
    ...{ url: { file }, from, signsIn: false },
  });
});

it('signs in with links only where it is turned on, with a mail server and an encrypted address', () => {
  const given = { ...good, ROPEWALK_MAIL_FROM: from, ROPEWALK_SMTP_URL: url, ROPEWALK_MAIL_SIGN_IN: 'on' };
  expect(readSettings(given).mail).toMatchObject({ signsIn: true });
  expect(readSettings({ ...given, ROPEWALK_MAIL_SIGN_IN: 'off' }).mail).toMatchObject({ signsIn: false });
  expect(readSettings({ ...given, ROPEWALK_SESSION_HOURS: '12' }).sessionMs).toBe(12 * 3_600_000);
});

it.each([
  [{ ROPEWALK_MAIL_SIGN_IN: 'on' }, 'ROPEWALK_SMTP_URL'],
  [{ ROPEWALK_MAIL_SIGN_IN: 'yes' }, 'ROPEWALK_MAIL_SIGN_IN'],
  [
    {
      ...{ ROPEWALK_MAIL_SIGN_IN: 'on', ROPEWALK_MAIL_FROM: from, ROPEWALK_SMTP_URL: url },
      ROPEWALK_PUBLIC_URL: 'http://ropewalk.example.com',
    },
    'ROPEWALK_PUBLIC_URL',
  ],
  [{ ROPEWALK_SMTP_URL: url }, 'ROPEWALK_MAIL_FROM'],
  [{ ROPEWALK_MAIL_FROM: from }, 'ROPEWALK_SMTP_URL_FILE'],
  [{ ROPEWALK_MAIL_FROM: from, ROPEWALK_SMTP_URL: url, ROPEWALK_SMTP_URL_FILE: '/a' }, 'ROPEWALK_SMTP_URL_FILE'],
  [{ ROPEWALK_MAIL_FROM: from, ROPEWALK_SMTP_URL: 'https://canary@example.com' }, 'ROPEWALK_SMTP_URL'],
  [{ ROPEWALK_MAIL_FROM: from, ROPEWALK_SMTP_URL: `${url}?ignoreTLS=true` }, 'ROPEWALK_SMTP_URL'],
  [{ ROPEWALK_MAIL_FROM: 'a@example.com\r\nBcc: b@example.com', ROPEWALK_SMTP_URL: url }, 'ROPEWALK_MAIL_FROM'],
])('refuses %j', (more, variable) => {
  expect(() => readSettings({ ...good, ...more })).toThrow(variable);
  expect(() => readSettings({ ...good, ...more })).not.toThrow('canary');
});

it('repeats nothing of a file that holds no URL', async () => {
  const setting = { file: '/etc/ropewalk/smtp-url' };
  await expect(openMailer({ url: setting, from }, () => Promise.resolve('canary\n'))).rejects.toThrow(
    /^ROPEWALK_SMTP_URL_FILE holds no smtp or smtps URL\.$/,
  );
});
