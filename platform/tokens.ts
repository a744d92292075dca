// The credentials of agents: a launch token lets the instances of one launch register, an instance token authenticates one
// instance. Also those of a dashboard: a link is exchanged for a session of one cluster. All are JWTs of this deployment,
// verified with an explicit algorithm, issuer and audience.
import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose';

import { RopewalkError } from '../domain/errors.ts';
import {
  dashboardLinkTtlMs,
  dashboardSessionTtlMs,
  instanceTokenTtlMs,
  launchTokenTtlMs,
  expiredTokenGraceMs,
} from '../domain/tokens/limits.ts';
import type { Keys, KeySet } from './keys.ts';

export interface LaunchClaims {
  workspace: string;
  cluster: number;
  /** Number of the launch within its cluster; 0 for a returning instance. */
  seq: number;
  /** The only instance that may register with it: its own token expired while it was disconnected, for example asleep. */
  returning?: string;
}

export interface InstanceClaims {
  workspace: string;
  cluster: number;
  /** The job that this instance works for, which shares the cluster's number, or null. */
  job: number | null;
  instance: string;
}

export interface RenewedToken {
  instanceToken: string;
  /** RFC 3339. */
  expiresAt: string;
}

/** Grants access to this cluster's dashboard on behalf of `user`. */
export interface DashboardClaims {
  workspace: string;
  cluster: number;
  user: string;
  /** The API token that created it: access ends with that token. */
  tokenId: string;
}

export interface MintedToken {
  token: string;
  expiresAtMs: number;
}

export interface Tokens {
  mintLaunch(claims: LaunchClaims): Promise<string>;
  /** Accepts an instance of a launch, or a returning instance with its own expired token. */
  verifyLaunch(token: string): Promise<LaunchClaims>;
  mintInstance(claims: InstanceClaims): Promise<RenewedToken>;
  verifyInstance(token: string): Promise<InstanceClaims & { expiresAtMs: number }>;
  /** For a link, which others may see on a screen: short-lived. A token of one site is invalid for the other. */
  mintDashboard(claims: DashboardClaims, site?: ClusterSite): Promise<MintedToken>;
  verifyDashboard(token: string, site?: ClusterSite): Promise<DashboardClaims>;
  /** For a cookie. */
  mintDashboardSession(claims: DashboardClaims, site?: ClusterSite): Promise<MintedToken>;
  verifyDashboardSession(token: string, site?: ClusterSite): Promise<DashboardClaims & { expiresAtMs: number }>;
}

/** A cluster's web pages: Dask's read-only dashboard, or a Jupyter server, which runs code. */
export type ClusterSite = 'dashboard' | 'jupyter';

/** The verify functions throw UNAUTHENTICATED for any invalid token. */
export function createTokens(keys: Keys, now: () => number = Date.now): Tokens {
  // Imported once: importing a key costs as much as verifying a token.
  const made = new Map<string, Promise<CryptoKey>>();
  const keyOf = ({ kid, tokens }: Pick<KeySet, 'kid' | 'tokens'>): Promise<CryptoKey> => {
    const known = made.get(kid) ?? importKey(tokens);
    made.set(kid, known);
    return known;
  };

  const mint = async (audience: Audience, claims: JWTPayload, ttlMs: number) => {
    const expiresAt = Math.floor((now() + ttlMs) / 1000);
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: keys.current.kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(Math.floor(now() / 1000))
      .setExpirationTime(expiresAt)
      .sign(await keyOf(keys.current));
    return { token, expiresAtMs: expiresAt * 1000 };
  };

  /** The token may have been expired for up to `lateMs`. */
  const verify = async (audience: Audience, token: string, lateMs = 0): Promise<JWTPayload> => {
    try {
      // The decoder ignores padding and spaces, so one token would have many texts.
      if (!exactJwt.test(token)) throw new errors.JWSInvalid('not the compact form');
      const verified = await jwtVerify(
        token,
        (header) => {
          const key = keys.byKid(header.kid ?? '');
          if (key === null) throw new errors.JWSInvalid('unknown key id');
          return keyOf(key);
        },
        {
          algorithms: [algorithm],
          issuer,
          audience,
          requiredClaims: ['exp', 'iat'],
          currentDate: new Date(now() - lateMs),
        },
      );
      return verified.payload;
    } catch (cause) {
      throw refused(audience, cause);
    }
  };

  const verifyFirst = async (token: string): Promise<LaunchClaims> => {
    const { workspace, cluster, seq } = readClaims(await verify('launch', token));
    if (workspace === null || cluster === null || seq === null) throw refused('launch');
    return { workspace, cluster, seq };
  };

  const verifyReturning = async (token: string): Promise<LaunchClaims> => {
    const payload = await verify('instance', token, expiredTokenGraceMs);
    const { workspace, cluster, instance } = readClaims(payload);
    if (workspace === null || cluster === null || instance === null || payload.exp === undefined) {
      throw refused('launch');
    }
    // A valid token authenticates every request, so it needs no replacement.
    if (payload.exp * 1000 > now() + clockSkewMs) throw refused('launch');
    return { workspace, cluster, seq: 0, returning: instance };
  };

  const verifyUser = async (audience: ClusterSite | `${ClusterSite}-session`, token: string) => {
    const payload = await verify(audience, token);
    const { workspace, cluster, user, tokenId } = readClaims(payload);
    const isWhole = workspace !== null && cluster !== null && user !== null && tokenId !== null;
    if (!isWhole || payload.exp === undefined) throw refused(audience);
    return { workspace, cluster, user, tokenId, expiresAtMs: payload.exp * 1000 };
  };

  return {
    mintLaunch: async ({ workspace, cluster, seq }) =>
      (await mint('launch', { workspace, cluster, seq }, launchTokenTtlMs)).token,
    verifyLaunch: (token) =>
      verifyFirst(token).catch((refusal: unknown) =>
        verifyReturning(token).catch(() => {
          throw refusal;
        }),
      ),
    mintInstance: async ({ workspace, cluster, job, instance }) => {
      const minted = await mint('instance', { workspace, cluster, job, instance }, instanceTokenTtlMs);
      return { instanceToken: minted.token, expiresAt: new Date(minted.expiresAtMs).toISOString() };
    },
    verifyInstance: async (token) => {
      const payload = await verify('instance', token);
      const { workspace, cluster, instance, job } = readClaims(payload);
      if (workspace === null || cluster === null || instance === null || payload.exp === undefined) {
        throw refused('instance');
      }
      return { workspace, cluster, job, instance, expiresAtMs: payload.exp * 1000 };
    },
    mintDashboard: ({ workspace, cluster, user, tokenId }, site = 'dashboard') =>
      mint(site, { workspace, cluster, user, tokenId }, dashboardLinkTtlMs),
    verifyDashboard: async (token, site = 'dashboard') => {
      const { workspace, cluster, user, tokenId } = await verifyUser(site, token);
      return { workspace, cluster, user, tokenId };
    },
    mintDashboardSession: ({ workspace, cluster, user, tokenId }, site = 'dashboard') =>
      mint(`${site}-session`, { workspace, cluster, user, tokenId }, dashboardSessionTtlMs),
    verifyDashboardSession: (token, site = 'dashboard') => verifyUser(`${site}-session`, token),
  };
}

type Audience = 'launch' | 'instance' | ClusterSite | `${ClusterSite}-session`;

/** The base64url of an HS256 signature has 43 characters, the last of which carries four bits. */
const exactJwt = /^[A-Za-z0-9_-]{1,4000}\.[A-Za-z0-9_-]{1,4000}\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

const algorithm = 'HS256';
const issuer = 'ropewalk';
/** A token that has expired for one replica of the API may still be valid for another. */
const clockSkewMs = 60_000;

const importKey = (bytes: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', new Uint8Array(bytes), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
const integerOf = (value: unknown) => (Number.isSafeInteger(value) ? Number(value) : null);

const readClaims = (payload: JWTPayload) => ({
  workspace: textOf(payload['workspace']),
  cluster: integerOf(payload['cluster']),
  seq: integerOf(payload['seq']),
  job: integerOf(payload['job']),
  instance: textOf(payload['instance']),
  user: textOf(payload['user']),
  tokenId: textOf(payload['tokenId']),
});

const hints: Record<Audience, string> = {
  launch: 'This agent has no way in: it should end.',
  instance: 'Register again with the launch token and the same bootId.',
  dashboard: 'Ask for a new link to the dashboard.',
  'dashboard-session': 'Ask for a new link to the dashboard.',
  jupyter: 'Ask for a new link to Jupyter.',
  'jupyter-session': 'Ask for a new link to Jupyter.',
};

function refused(audience: Audience, cause?: unknown): RopewalkError {
  return new RopewalkError(
    {
      code: 'UNAUTHENTICATED',
      message: `The ${audience} token is missing, expired, or not one of this deployment.`,
      hint: hints[audience],
    },
    { cause },
  );
}
