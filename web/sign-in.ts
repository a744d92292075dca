// Sign-in at the identity provider: this tab keeps a random verifier, and only the sign-in that it began with the verifier's
// hash yields a token.
import type { CreatedToken } from '../schema/people.ts';
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
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const isAsked = isAddress(location.pathname) && location.pathname !== signedInPath;
  const begun: Begun = { verifier, isRemembered, back: isAsked ? `${location.pathname}${location.search}` : '/' };
  sessionStorage.setItem(key, JSON.stringify(begun));
  location.assign(`${path}?challenge=${base64url(new Uint8Array(hash))}`);
}

/** Called after the redirect back. Rejects with a user-facing text. */
export async function takeSignIn(): Promise<Session> {
  const code = location.hash.slice(1);
  const kept = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const begun: Begun | null = kept === null ? null : JSON.parse(kept);
  // Also after a failure: the next attempt leads there too.
  history.replaceState(null, '', begun?.back ?? '/');
  if (begun === null) throw new Error('This sign-in was begun in another tab. Sign in again.');
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
