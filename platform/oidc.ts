// OpenID Connect with one provider: authorization code flow with PKCE, state and nonce. The library verifies the ID token: its
// signature by the provider's keys, issuer, audience, nonce and times.
import * as client from 'openid-client';

import { RopewalkError } from '../domain/errors.ts';
import { usableAddress } from '../domain/people/first-sign-in.ts';
import { isLoopback } from './environment.ts';
import type { Secret } from './secret.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** The API's URL to which the provider redirects browsers. */
  redirectUrl: string;
}

/** The expected values of the answer; the browser stores them, sealed. */
export interface OidcAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

export interface OidcAccount {
  issuer: string;
  subject: string;
  /** Verified by the provider, ASCII only, in lower case; null otherwise. */
  email: string | null;
}

export interface OidcProvider {
  /** Throws UNAVAILABLE while the provider does not answer. */
  begin(attempt: OidcAttempt): Promise<URL>;
  /** `query` is the query string of the provider's redirect. Throws UNAUTHENTICATED, or UNAVAILABLE. */
  finish(query: string, attempt: OidcAttempt): Promise<OidcAccount>;
}

export const newAttempt = (): OidcAttempt => ({
  state: client.randomState(),
  nonce: client.randomNonce(),
  verifier: client.randomPKCECodeVerifier(),
});

export function createOidcProvider(settings: OidcSettings, monotonicMs: () => number): OidcProvider {
  const { redirectUrl } = settings;
  let known: { config: Promise<client.Configuration>; sinceMs: number } | null = null;
  const discovered = (): Promise<client.Configuration> => {
    if (known !== null && monotonicMs() - known.sinceMs < discoveryMaxAgeMs) return known.config;
    const found = { config: discover(settings), sinceMs: monotonicMs() };
    known = found;
    found.config.catch(() => {
      if (known === found) known = null;
    });
    return found.config;
  };
  return {
    begin: async ({ state, nonce, verifier }) => {
      const config = await discovered().catch((error: unknown) => {
        throw unavailableProvider(error);
      });
      return client.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUrl, scope: 'openid email', state, nonce },
        ...{ code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      });
    },
    finish: async (query, { state, nonce, verifier }) => {
      const config = await discovered().catch((error: unknown) => {
        throw unavailableProvider(error);
      });
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const url = new URL(redirectUrl);
      url.search = query;
      const tokens = await client.authorizationCodeGrant(config, url, checks).catch((error: unknown) => {
        throw isOutage(error) ? unavailableProvider(error) : refused(error);
      });
      const claims = tokens.claims();
      if (claims === undefined) throw refused(new Error('no ID token'));
      const { iss: issuer, sub: subject, email, email_verified: isVerified } = claims;
      // The user info endpoint is not used, because its answer is not signed.
      return { issuer, subject, email: usableAddress(email, isVerified) };
    },
  };
}

/** A provider's endpoints and keys rarely change; the library itself reads new keys when a token names one. */
const discoveryMaxAgeMs = 3_600_000;
const timeoutSeconds = 10;
const clockToleranceSeconds = 30;

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const url = new URL(issuer);
  const secret = clientSecret.reveal();
  const metadata = { [client.clockTolerance]: clockToleranceSeconds };
  const ofProvider: client.ClientAuth = (server, ...rest) => {
    // A provider that names no method uses the standard's default.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    return (isPost ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret))(server, ...rest);
  };
  return client.discovery(url, clientId, metadata, ofProvider, {
    timeout: timeoutSeconds,
    // Without it, the library trusts an ID token that comes directly from the provider.
    execute: [client.enableNonRepudiationChecks, ...(isPlainLoopback(url) ? [client.allowInsecureRequests] : [])],
  });
}

const isPlainLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && isLoopback(hostname);

/** The provider did not answer, or something else answered in its place. */
function isOutage(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.status >= 500;
  if (error instanceof client.ClientError) {
    return error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM';
  }
  return error instanceof TypeError && error.message === 'fetch failed';
}

export const unavailableProvider = (cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'The identity provider does not answer.',
      hint: 'Try again, or sign in with an API token.',
    },
    { cause },
  );

const refused = (cause: unknown): RopewalkError => refusedAnswer(cause, reasonOf(cause));

/** `code`: shown as far as it looks like one; a text of the provider may repeat the request. */
export const refusedAnswer = (cause: unknown, code: string): RopewalkError =>
  new RopewalkError(
    {
      code: 'UNAUTHENTICATED',
      message: `The identity provider's answer was refused: ${known(code)}.`,
      hint: 'Sign in again from the start.',
    },
    { cause },
  );

const known = (code: string): string => (/^[a-z0-9_ ]{1,60}$/i.test(code) ? code : 'an error of its own');

function reasonOf(error: unknown): string {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    return error.error;
  }
  return error instanceof client.ClientError ? (error.code ?? 'it is not valid') : 'it is not valid';
}
