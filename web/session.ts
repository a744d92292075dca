// The signed-in session. The API has no cookies: the token is sent as a header, and no other site can act with it.
import type { Whoami } from '../schema/people.ts';

export interface Session {
  token: string;
  who: Whoami;
}

const key = 'ropewalk.token';
/** The id of the token that was created for this page; signing out revokes it. */
const ownKey = 'ropewalk.own-token';

export const readToken = (): string | null => sessionStorage.getItem(key) ?? localStorage.getItem(key);

export function keepToken(token: string, isRemembered: boolean): void {
  (isRemembered ? localStorage : sessionStorage).setItem(key, token);
}

export function keepOwnToken({ id, token }: { id: string; token: string }, isRemembered: boolean): void {
  keepToken(token, isRemembered);
  (isRemembered ? localStorage : sessionStorage).setItem(ownKey, id);
}

export function removeToken(): void {
  for (const storage of [sessionStorage, localStorage]) {
    storage.removeItem(key);
    storage.removeItem(ownKey);
  }
}

/** Revokes a token that was created for this page; another token of the user stays valid. */
export function signOut(session: Session): void {
  const isOwn = [sessionStorage.getItem(ownKey), localStorage.getItem(ownKey)].includes(session.who.tokenId);
  removeToken();
  if (!isOwn) return;
  const headers = { authorization: `Bearer ${session.token}` };
  const init = { method: 'POST', headers, keepalive: true };
  fetch(`/v1/tokens/${session.who.tokenId}/revoke`, init).catch(() => undefined);
}

/** No answer, or one that does not concern the token. */
export class UnreachableError extends Error {}

/** Rejects with a user-facing text. @throws UnreachableError while the token may be valid. */
export async function whoAmI(token: string): Promise<Session> {
  const answer = await fetch('/v1/whoami', { headers: { authorization: `Bearer ${token}` } }).catch(() => null);
  if (answer === null) throw new UnreachableError('The API cannot be reached.');
  if (answer.status >= 500 || answer.status === 429) throw new UnreachableError(await problemOf(answer));
  if (!answer.ok) throw new Error(await refusalOf(answer));
  const who: Whoami = await answer.json();
  return { token, who };
}

export async function problemOf(answer: Response): Promise<string> {
  const body: { error?: { message?: string; hint?: string } } = await answer.json().catch(() => ({}));
  const { message = `The API answered ${answer.status}.`, hint = '' } = body.error ?? {};
  return hint === '' ? message : `${message} ${hint}`;
}

/** The refusal of a request with a token. The API's own hint names an HTTP header, which a user of a page cannot send. */
export async function refusalOf(answer: Response): Promise<string> {
  if (answer.status !== 401) return problemOf(answer);
  return 'The API does not accept this token: it is incomplete, unknown, revoked or expired. Sign in with the whole token, or make a new one with: ropewalk token create';
}

let whenEnded: (session: Session) => void = () => undefined;

/** `listener` is called when a page's request finds that the API no longer accepts the session's token. */
export function onSessionEnd(listener: (session: Session) => void): void {
  whenEnded = listener;
}

/** The reason of a refused request. Notifies the listener of an expired session. */
export async function refusalIn(session: Session, answer: Response): Promise<string> {
  const text = await refusalOf(answer);
  if (answer.status === 401) whenEnded(session);
  return text;
}

export const mayWrite = ({ who }: Session): boolean => who.scopes.includes('write') || who.scopes.includes('admin');

export const isAdmin = ({ who }: Session): boolean => who.scopes.includes('admin');

export async function call<T>(session: Session, method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { authorization: `Bearer ${session.token}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(path, init).catch(() => null);
  if (answer === null) throw new Error('The API cannot be reached.');
  if (!answer.ok) throw new Error(await refusalIn(session, answer));
  const read: T = await answer.json();
  return read;
}
