// Sign-in at the identity provider or by a link in an e-mail: this page keeps a random verifier, and only the sign-in that it began with the verifier's
// hash yields a token. A link opens another tab of the browser, so its verifier is in the storage that tabs share.
import type { CreatedToken, RequestLink } from '../schema/people.ts';
import { isAddress } from './router.ts';
import { keepOwnToken, problemOf, whoAmI, type Session } from './session.ts';

export const signedInPath = '/signed-in';
const key = 'ropewalk.sign-in';

interface Begun {
  verifier: string;
  isRemembered: boolean;
  /** The requested URL. */
  back: string;
}

/** Navigates away from the page. */
export async function beginSignIn(path: string, isRemembered: boolean): Promise<void> {
  const { begun, challenge } = await begin(isRemembered);
  sessionStorage.setItem(key, JSON.stringify(begun));
  location.assign(`${path}?challenge=${challenge}`);
}

/** Rejects with a user-facing text. */
export async function requestLink(address: string, isRemembered: boolean): Promise<void> {
  const { begun, challenge } = await begin(isRemembered);
  const headers = { 'content-type': 'application/json' };
  const asked: RequestLink = { address, challenge };
  const init = { method: 'POST', headers, body: JSON.stringify(asked) };
  const answer = await fetch('/v1/login/mail', init).catch(() => null);
  if (answer === null) throw new Error('The API cannot be reached.');
  if (!answer.ok) throw new Error(await problemOf(answer));
  sessionStorage.removeItem(key);
  localStorage.setItem(key, JSON.stringify(begun));
}

async function begin(isRemembered: boolean): Promise<{ begun: Begun; challenge: string }> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const isAsked = isAddress(location.pathname) && location.pathname !== signedInPath;
  const back = isAsked ? `${location.pathname}${location.search}` : '/';
  return { begun: { verifier, isRemembered, back }, challenge: base64url(new Uint8Array(hash)) };
}

/** Called after the redirect back. Rejects with a user-facing text. */
export async function takeSignIn(): Promise<Session> {
  const code = location.hash.slice(1);
  const storage = sessionStorage.getItem(key) === null ? localStorage : sessionStorage;
  const kept = storage.getItem(key);
  storage.removeItem(key);
  const begun: Begun | null = kept === null ? null : JSON.parse(kept);
  // Also after a failure: the next attempt leads there too.
  history.replaceState(null, '', begun?.back ?? '/');
  if (begun === null) throw new Error('This sign-in was begun elsewhere. Sign in again.');
  const { verifier, isRemembered } = begun;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ code, verifier });
  const answer = await fetch('/v1/login/oidc/token', { method: 'POST', headers, body }).catch(() => null);
  if (answer === null) throw new Error('The API cannot be reached.');
  if (!answer.ok) throw new Error(await problemOf(answer));
  const made: CreatedToken = await answer.json();
  const session = await whoAmI(made.token);
  keepOwnToken(made, isRemembered);
  return session;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
