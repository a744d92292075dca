// A real OpenID Connect server on loopback, at which every sign-in succeeds at once with the account that the test names. It can
// also lie: `tamper` changes the claims of the next ID tokens, which it signs anew with its own key.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { exportJWK, generateKeyPair, SignJWT, decodeJwt, type JWTPayload } from 'jose';
import { Provider, type KoaContextWithOIDC } from 'oidc-provider';

export interface OidcServer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The account of all sign-ins from now on. */
  account: { sub: string; email?: string; email_verified?: boolean };
  /** Null: the ID tokens are unchanged. */
  tamper: ((claims: JWTPayload) => JWTPayload) | null;
  /** Signs with a key that the server does not publish. */
  isForged: boolean;
  close(): Promise<void>;
}

export async function startOidcServer(redirectUrl: string): Promise<OidcServer> {
  let handle: ReturnType<Provider['callback']> | null = null;
  let interact:
    | ((
        req: Parameters<NonNullable<typeof handle>>[0],
        res: Parameters<NonNullable<typeof handle>>[1],
      ) => Promise<void>)
    | null = null;
  const server: Server = createServer((req, res) => {
    if (req.url?.startsWith('/interaction/') === true) {
      interact?.(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
    } else void handle?.(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${address.port}`;
  const [own, foreign] = await Promise.all([newKey(), newKey()]);
  const state: OidcServer = {
    ...{ issuer, clientId: 'ropewalk', clientSecret: 's'.repeat(43), tamper: null, isForged: false },
    account: { sub: 'no-account' },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: state.clientId,
        client_secret: state.clientSecret,
        redirect_uris: [redirectUrl],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(own.privateKey)), use: 'sig', alg: 'ES256', kid: 'own' }] },
    cookies: { keys: ['for a test'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    claims: { email: ['email', 'email_verified'] },
    // In the ID token, as Google and Dex do.
    conformIdTokenClaims: false,
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...state.account, sub }) }),
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  });
  provider.use(async (context: KoaContextWithOIDC, next) => {
    await next();
    const body: unknown = context.body;
    if (context.path !== '/token' || typeof body !== 'object' || body === null || !('id_token' in body)) return;
    if (state.tamper === null && !state.isForged) return;
    const claims = decodeJwt(String(body.id_token));
    const key = state.isForged ? foreign : own;
    const changed = new SignJWT(state.tamper?.(claims) ?? claims).setProtectedHeader({ alg: 'ES256', kid: 'own' });
    context.body = { ...body, id_token: await changed.sign(key.privateKey) };
  });
  handle = provider.callback();
  interact = (req, res) =>
    provider.interactionFinished(
      req,
      res,
      { login: { accountId: state.account.sub } },
      { mergeWithLastSubmission: false },
    );
  return state;
}

const newKey = () => generateKeyPair('ES256', { extractable: true });
