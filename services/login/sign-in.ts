// Sign-in at an identity provider. Nothing is stored during a sign-in: the browser keeps the data for checking the provider's answer, sealed. In the
// end the person has an API token, like every user.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { signedInTtlMs, signInTtlMs } from '../../domain/people/limits.ts';
import { refuseDomain } from '../../domain/people/sign-in.ts';
import type { WorkspaceChoice } from '../../domain/people/first-sign-in.ts';
import type { IssuedToken, Scope } from '../../domain/people/state.ts';
import { newAttempt } from '../../platform/oidc.ts';
import { tokenSecretFrom, tokenText } from '../../platform/token-secret.ts';
import type { CreatedToken, LoginMethods, TakeSignIn } from '../../schema/people.ts';
import type { Deps } from '../context.ts';
import type { SignInSettings } from './sign-in-settings.ts';
import { orRefused } from '../people/rules.ts';
import { timeOrNull } from '../to-wire.ts';

/** What follows the sign-in: the web application, which holds the verifier of `challenge`, or the decision about a device. */
export type SignInPurpose = { kind: 'web'; challenge: string } | { kind: 'device'; userCode: string };

export const loginMethods = ({ signIn, mailSignIn }: Pick<Deps, 'signIn' | 'mailSignIn'>): LoginMethods => ({
  provider: signIn === null ? null : { name: signIn.name, path: signInPath },
  mail: mailSignIn !== null,
});

export const signInPath = '/login/oidc';

/** Returns the URL for the browser, and the sealed data that it keeps for `finishSignIn`. */
export async function beginSignIn(
  deps: Deps,
  { purpose, workspace }: { purpose: SignInPurpose; workspace: string | null },
): Promise<{ url: URL; sealed: string }> {
  const { provider } = configured(deps);
  const attempt = newAttempt();
  const url = await provider.begin(attempt);
  return { url, sealed: await deps.sealedTexts.seal('sign-in', { attempt, purpose, workspace }, signInTtlMs) };
}

export interface FinishedSignIn {
  purpose: SignInPurpose;
  /** The session, or the workspaces to choose from, with a sign-in for each. */
  outcome: Session | { choose: WorkspaceChoice[] };
}

/** Throws UNAUTHENTICATED for an answer that the provider did not send to this browser, FORBIDDEN for people without access. */
export async function finishSignIn(
  deps: Deps,
  { sealed, query, address }: { sealed: string; query: string; address: string | null },
): Promise<FinishedSignIn> {
  const { provider, domains, newPeople, sessionMs } = configured(deps);
  const begun = readBegun(await deps.sealedTexts.open('sign-in', sealed));
  // Before any request to the provider: only its own answer to this browser has the state.
  if (begun === null || new URLSearchParams(query).get('state') !== begun.attempt.state) throw notBegun;
  deps.loginRates.finish(address);
  const account = await provider.finish(query, begun.attempt);
  const refusal = refuseDomain(account.email, domains);
  if (refusal !== null) throw new RopewalkError(refusal);
  const seed = randomBytes(32);
  const { id, secretHash, secret } = tokenSecretFrom(deps.keys, seed);
  const token = { id, secretHash, expiresAtMs: deps.now() + sessionMs };
  const { purpose, workspace } = begun;
  const answer = await deps.store.identities.signIn({ account, workspace, newPeople, token }, deps.now());
  deps.tokenCache.expire();
  const signedIn = orRefused(answer);
  if ('choose' in signedIn) return { purpose, outcome: signedIn };
  return { purpose, outcome: await handOver(deps, purpose, signedIn, { seed, id, secret }) };
}

/** A session that has begun: its token, and the sealed text by which the page gets that token. */
export interface Session {
  workspace: string;
  token: string;
  issued: IssuedToken;
  handedOver: string;
}

export async function handOver(
  deps: Deps,
  purpose: SignInPurpose,
  { workspace, issued }: { workspace: string; issued: IssuedToken },
  { seed, id, secret }: { seed: Buffer; id: string; secret: string },
): Promise<Session> {
  deps.logger.info({ user: issued.user, workspace, tokenId: id }, 'signed in');
  const challenge = purpose.kind === 'web' ? purpose.challenge : '';
  const claims = { ...issued, seed: seed.toString('base64url'), workspace, challenge };
  const handedOver = await deps.sealedTexts.seal('signed-in', claims, signedInTtlMs);
  return { workspace, issued, token: tokenText(workspace, { id, secret }), handedOver };
}

/** Returns the token to the page that began the sign-in, which alone knows the verifier. Repeats return the same token. */
export async function takeSignIn(deps: Deps, { code, verifier }: TakeSignIn): Promise<CreatedToken> {
  const claims = await deps.sealedTexts.open('signed-in', code);
  const { seed, workspace, user, challenge, scopes, expiresAtMs } = claims ?? {};
  const isWhole = typeof seed === 'string' && typeof workspace === 'string' && typeof user === 'string';
  if (!isWhole || typeof challenge !== 'string' || !isHashOf(challenge, verifier)) throw notBegun;
  const made = tokenSecretFrom(deps.keys, Buffer.from(seed, 'base64url'));
  return {
    ...{ id: made.id, token: tokenText(workspace, made), workspace, user },
    scopes: Array.isArray(scopes) ? scopes.filter(isScope) : [],
    expiresAt: timeOrNull(typeof expiresAtMs === 'number' ? expiresAtMs : null),
  };
}

const isScope = (value: unknown): value is Scope => value === 'read' || value === 'write' || value === 'admin';

function isHashOf(challenge: string, verifier: string): boolean {
  const hash = createHash('sha256').update(verifier).digest();
  const given = Buffer.from(challenge, 'base64url');
  return given.byteLength === hash.byteLength && timingSafeEqual(given, hash);
}

function configured({ signIn }: Pick<Deps, 'signIn'>): SignInSettings {
  if (signIn !== null) return signIn;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: 'No identity provider is configured here.',
    hint: 'Sign in with an API token. An operator configures a provider: docs/people.md.',
  });
}

interface Begun {
  attempt: { state: string; nonce: string; verifier: string };
  purpose: SignInPurpose;
  workspace: string | null;
}

/** Sealed here, so its shape is known. */
const readBegun = (claims: object | null): Begun | null => claims as Begun | null;

const notBegun = new RopewalkError({
  code: 'UNAUTHENTICATED',
  message: 'This sign-in was not begun in this browser, or more than ten minutes ago.',
  hint: 'Sign in again from the start.',
});
