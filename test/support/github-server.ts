// GitHub's web flow and API on loopback, as a GitHub Enterprise Server has them: everyone signs in at once with the account that the
// test names. Strict where GitHub is: the redirect URL, the secret, PKCE, and a code that is valid once.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface GithubServer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  account: { id: number; emails: { email: string; primary: boolean; verified: boolean }[] };
  /** Fails the next requests of this path, e.g. `/api/v3/user`. */
  broken: { path: string; status: number } | null;
  /** The user declines. */
  isDeclined: boolean;
  /** The valid tokens. */
  tokens: Set<string>;
  close(): Promise<void>;
}

interface Asked {
  challenge: string;
  redirectUrl: string;
}

type Answer = { status: number; body?: unknown; location?: string };

export async function startGithubServer(redirectUrl: string): Promise<GithubServer> {
  const codes = new Map<string, Asked>();
  const server = createServer((req, res) => {
    void answer(req).then(({ status, body, location }) => {
      res.writeHead(status, { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) });
      res.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const state: GithubServer = {
    ...{ issuer: `http://127.0.0.1:${port}`, clientId: 'Iv1.ropewalk', clientSecret: 'g'.repeat(40) },
    ...{ account: { id: 1, emails: [] }, broken: null, isDeclined: false, tokens: new Set() },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return state;

  async function answer(req: IncomingMessage): Promise<Answer> {
    const url = new URL(req.url ?? '', state.issuer);
    const route = `${req.method} ${url.pathname}`;
    if (state.broken?.path === url.pathname) return { status: state.broken.status, body: {} };
    if (route === 'GET /login/oauth/authorize') return authorize(url.searchParams);
    if (route === 'POST /login/oauth/access_token') return exchange(new URLSearchParams(await text(req)));
    const bearer = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1] ?? '';
    if (route === `DELETE /api/v3/applications/${state.clientId}/token`) return revoke(req, await text(req));
    if (!state.tokens.has(bearer) || req.headers['user-agent'] === undefined) return { status: 401, body: {} };
    if (route === 'GET /api/v3/user') return { status: 200, body: { id: state.account.id, login: 'someone' } };
    if (route === 'GET /api/v3/user/emails') return { status: 200, body: state.account.emails };
    return { status: 404, body: {} };
  }

  function authorize(asked: URLSearchParams): Answer {
    const isGood = asked.get('client_id') === state.clientId && asked.get('redirect_uri') === redirectUrl;
    if (!isGood || asked.get('code_challenge_method') !== 'S256') return { status: 400, body: {} };
    const back = new URL(redirectUrl);
    const code = randomBytes(10).toString('hex');
    if (state.isDeclined) back.searchParams.set('error', 'access_denied');
    else back.searchParams.set('code', code);
    back.searchParams.set('state', asked.get('state') ?? '');
    codes.set(code, { challenge: asked.get('code_challenge') ?? '', redirectUrl });
    return { status: 302, location: back.href };
  }

  function exchange(given: URLSearchParams): Answer {
    const known = codes.get(given.get('code') ?? '');
    codes.delete(given.get('code') ?? '');
    const hash = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    if (given.get('client_id') !== state.clientId || given.get('client_secret') !== state.clientSecret)
      return { status: 200, body: { error: 'incorrect_client_credentials' } };
    if (known === undefined || known.challenge !== hash || given.get('redirect_uri') !== known.redirectUrl)
      return { status: 200, body: { error: 'bad_verification_code', error_description: given.toString() } };
    const token = `gho_${randomBytes(18).toString('hex')}`;
    state.tokens.add(token);
    return { status: 200, body: { access_token: token, scope: 'user:email', token_type: 'bearer' } };
  }

  function revoke(req: IncomingMessage, body: string): Answer {
    const basic = Buffer.from(`${state.clientId}:${state.clientSecret}`).toString('base64');
    if (req.headers.authorization !== `Basic ${basic}`) return { status: 401, body: {} };
    state.tokens.delete((JSON.parse(body) as { access_token: string }).access_token);
    return { status: 204 };
  }
}
