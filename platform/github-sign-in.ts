// Sign-in with GitHub, which is not an OpenID provider for people: OAuth 2 with state and PKCE, then its API says who has the access
// token. github.com, or a GitHub Enterprise Server.
import { calculatePKCECodeChallenge } from 'openid-client';
import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import { usableAddress } from '../domain/people/first-sign-in.ts';
import { refusedAnswer, unavailableProvider, type OidcProvider, type OidcSettings } from './oidc.ts';

const timeoutMs = 10_000;
const publicHost = 'github.com';

const tokenAnswer = z.union([
  z.object({ access_token: z.string().min(1), token_type: z.string().regex(/^bearer$/i) }),
  z.object({ error: z.string() }),
]);
const user = z.object({ id: z.number().int().positive() });
const emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

export const isGithub = (issuer: string): boolean => new URL(issuer).hostname === publicHost;

export function createGithubProvider({ issuer, clientId, clientSecret, redirectUrl }: OidcSettings): OidcProvider {
  const { origin, hostname } = new URL(issuer);
  const api = hostname === publicHost ? `https://api.${publicHost}` : `${origin}/api/v3`;
  const secret = clientSecret.reveal();

  async function tokenFor(code: string, verifier: string): Promise<string> {
    const body = new URLSearchParams({
      ...{ client_id: clientId, client_secret: secret, code, redirect_uri: redirectUrl, code_verifier: verifier },
    });
    const url = `${origin}/login/oauth/access_token`;
    // A refusal has the status 200, too.
    const answer = tokenAnswer.parse(await ask(url, { method: 'POST', body }));
    if ('error' in answer) throw refused(answer.error);
    return answer.access_token;
  }

  /** It would be good forever, and is kept nowhere: where this fails, nothing is lost. */
  async function revoke(token: string): Promise<void> {
    const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
    const headers = { ...common, authorization, 'content-type': 'application/json' };
    const init = { method: 'DELETE', headers, body: JSON.stringify({ access_token: token }) };
    await fetch(`${api}/applications/${encodeURIComponent(clientId)}/token`, { ...init, ...limits() }).catch(
      () => undefined,
    );
  }

  return {
    begin: async ({ state, verifier }) => {
      const url = new URL('/login/oauth/authorize', origin);
      url.search = new URLSearchParams({
        ...{ client_id: clientId, redirect_uri: redirectUrl, scope: 'user:email', state, allow_signup: 'false' },
        ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      }).toString();
      return url;
    },
    finish: async (query, { state, verifier }) => {
      const given = new URLSearchParams(query);
      const [code, error] = [given.get('code'), given.get('error')];
      if (error !== null) throw refused(error);
      if (given.get('state') !== state || code === null) throw refused('no_code');
      try {
        const token = await tokenFor(code, verifier);
        const headers = { authorization: `Bearer ${token}` };
        const [who, addresses] = await Promise.all([
          ask(`${api}/user`, { headers }),
          ask(`${api}/user/emails`, { headers }),
        ]).finally(() => revoke(token));
        const primary = emails.parse(addresses).find((each) => each.primary);
        const email = usableAddress(primary?.email, primary?.verified);
        return { issuer: origin, subject: String(user.parse(who).id), email };
      } catch (cause) {
        if (cause instanceof RopewalkError) throw cause;
        throw refusedAnswer(cause, 'it is not valid');
      }
    },
  };
}

const common = { accept: 'application/json', 'user-agent': 'ropewalk', 'x-github-api-version': '2022-11-28' };

const limits = () => ({ redirect: 'error' as const, signal: AbortSignal.timeout(timeoutMs) });

async function ask(url: string, { headers, ...init }: RequestInit): Promise<unknown> {
  const answer = await fetch(url, { ...init, headers: { ...common, ...headers }, ...limits() }).catch(
    (cause: unknown) => {
      throw unavailableProvider(cause);
    },
  );
  if (answer.status >= 500 || answer.status === 429) throw unavailableProvider(new Error(`status ${answer.status}`));
  if (!answer.ok) throw refused(`status_${answer.status}`);
  return answer.json();
}

/** Error codes only: GitHub's texts may repeat the request. */
const refused = (code: string): RopewalkError => refusedAnswer(new Error(code), code);
