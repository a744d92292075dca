// Shared by the tests of signing in by a link in an e-mail: an API in memory with a real mail server, and a browser's requests.
import { createHash, randomBytes } from 'node:crypto';

import { createMailer } from '../../platform/mail/smtp.ts';
import type { MailSignInSettings, SignInSettings } from '../../services/login/sign-in-settings.ts';
import { addUser, origin, web } from './sign-in-support.ts';
import { smtpReceiver, type ReceivedMail } from './smtp-receiver.ts';
import { createTestApi, type TestApi } from './support.ts';

export const address = 'ann@example.com';
const from = 'ropewalk@control.example';

/** `mail: null`: links are off. */
export async function openMailApi(more: Partial<MailSignInSettings> & { signIn?: SignInSettings } = {}) {
  const { received, port } = await smtpReceiver();
  const {
    mailer = createMailer({ url: `smtp://127.0.0.1:${port}`, from }),
    sessionMs = 3_600_000,
    signIn = null,
  } = more;
  const mailSignIn = { mailer, sessionMs };
  const api = await createTestApi({ web, mailer, mailSignIn, signIn, trustedProxies: 1 });
  await addUser(api, address);
  return { api, received, [Symbol.dispose]: () => mailer.close() };
}

export interface Requested {
  response: Response;
  cookie: string;
  verifier: string;
}

/** A browser at `place` requests a link for the web application. */
export async function requestLink(api: TestApi, typed = address, place = '198.51.100.7'): Promise<Requested> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const headers = { 'x-forwarded-for': place };
  const body = { address: typed, challenge };
  const response = await api.call('POST', '/v1/login/mail', { token: null, body, headers });
  await api.deps.linkMails.settled();
  return { response, cookie: cookieOf(response), verifier };
}

export const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';

/** The link in a message, by default in the newest. */
export function linkIn(received: readonly ReceivedMail[], at = -1): URL {
  const text = (received.at(at)?.raw ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');
  return new URL(/^http\S+$/m.exec(text)?.[0] ?? 'about:blank');
}

/** The press of the button on the link's page. */
export const confirm = (
  api: TestApi,
  link: string,
  { cookie = '', workspace, from = origin }: { cookie?: string; workspace?: string; from?: string } = {},
): Promise<Response> =>
  Promise.resolve(
    api.app.request('/login/mail/link', {
      method: 'POST',
      headers: { cookie, origin: from, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ link, ...(workspace === undefined ? {} : { workspace }) }).toString(),
    }),
  );

export async function tokenOf(api: TestApi, confirmed: Response, verifier: string) {
  const { hash, pathname } = new URL(confirmed.headers.get('location') ?? 'about:blank', origin);
  if (pathname !== '/signed-in') throw new Error(`${confirmed.status} ${await confirmed.text()}`);
  return api.call('POST', '/v1/login/oidc/token', { token: null, body: { code: hash.slice(1), verifier } });
}

/** From the request to the session. */
export async function signInByMail(api: TestApi, received: readonly ReceivedMail[]) {
  const { cookie, verifier } = await requestLink(api);
  const confirmed = await confirm(api, linkIn(received).hash.slice(1), { cookie });
  return (await (await tokenOf(api, confirmed, verifier)).json()) as {
    token: string;
    user: string;
    scopes: string[];
    expiresAt: string;
  };
}
