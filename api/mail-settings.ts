// The operator's mail server, from the API's environment. Its URL contains a password, so it comes from a variable or from a file.
import { z } from 'zod';

import { mailAddress } from '../domain/notifications/mail.ts';
import { isPrivateLink, type Environment, type EnvironmentProblem } from '../platform/environment.ts';
import { createMailer, type Mailer } from '../platform/mail/smtp.ts';
import {
  readSecretSetting,
  secretProblems,
  secretSetting,
  type ReadText,
  type SecretSetting,
} from './secret-setting.ts';

export const mailVariables = {
  ROPEWALK_SMTP_URL: z.string().refine(isSmtpUrl, 'must be an smtp or smtps URL').optional(),
  ROPEWALK_SMTP_URL_FILE: z.string().min(1).optional(),
  ROPEWALK_MAIL_FROM: z.string().regex(mailAddress, 'must be one e-mail address, without a name').optional(),
  ROPEWALK_MAIL_SIGN_IN: z.enum(['on', 'off'], 'must be on or off').default('off'),
};

export const mailExamples = {
  ROPEWALK_SMTP_URL: 'smtps://ropewalk:PASSWORD@smtp.example.com',
  ROPEWALK_SMTP_URL_FILE: '/etc/ropewalk/smtp-url',
  ROPEWALK_MAIL_FROM: 'ropewalk@example.com',
  ROPEWALK_MAIL_SIGN_IN: 'on',
};

export interface MailEnvironment {
  url: SecretSetting;
  from: string;
  /** Links in e-mails sign users in. */
  signsIn: boolean;
}

type Values = z.infer<z.ZodObject<typeof mailVariables>>;

/** Null without a mail server. */
export function readMail(values: Values): MailEnvironment | null {
  const { ROPEWALK_SMTP_URL: url, ROPEWALK_SMTP_URL_FILE: file, ROPEWALK_MAIL_FROM: from } = values;
  if (from === undefined) return null;
  return { url: secretSetting(url, file), from, signsIn: values.ROPEWALK_MAIL_SIGN_IN === 'on' };
}

/** Checks across several variables. */
export function mailProblems(env: Environment): EnvironmentProblem[] {
  const has = (name: string): boolean => (env[name] ?? '') !== '';
  const signsIn = env['ROPEWALK_MAIL_SIGN_IN'] === 'on';
  const server = ['ROPEWALK_SMTP_URL', 'ROPEWALK_SMTP_URL_FILE', 'ROPEWALK_MAIL_FROM'];
  if (!signsIn && !server.some(has)) return [];
  const sender = { variable: 'ROPEWALK_MAIL_FROM', text: 'must be set when a mail server is' };
  const publicUrl = env['ROPEWALK_PUBLIC_URL'] ?? '';
  const link = { variable: 'ROPEWALK_PUBLIC_URL', text: 'must be https when ROPEWALK_MAIL_SIGN_IN is on' };
  return [
    ...secretProblems(env, 'ROPEWALK_SMTP_URL'),
    ...(has('ROPEWALK_MAIL_FROM') ? [] : [sender]),
    ...(signsIn && publicUrl !== '' && !isPrivateLink(publicUrl) ? [link] : []),
  ];
}

/** Throws when the file cannot be read or contains no URL of a mail server; the error does not quote its content. */
export async function openMailer(
  { url: setting, from }: Pick<MailEnvironment, 'url' | 'from'>,
  read: ReadText,
): Promise<Mailer> {
  const url = await readSecretSetting(setting, read);
  if (!isSmtpUrl(url)) throw new Error('ROPEWALK_SMTP_URL_FILE holds no smtp or smtps URL.');
  return createMailer({ url, from });
}

function isSmtpUrl(text: string): boolean {
  const url = URL.parse(text);
  // Anything after the host would be options of the library.
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && url.search === '' && url.hash === '';
}
