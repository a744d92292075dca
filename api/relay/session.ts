// Access to dashboards: a browser that opens a valid link gets a cookie for that one cluster. Cookie and link are tokens with different audiences, so
// neither is accepted as the other.
import type { IncomingMessage } from 'node:http';

import { RopewalkError } from '../../domain/errors.ts';
import { dashboardSessionTtlMs } from '../../domain/tokens/limits.ts';
import type { ClusterSite, DashboardClaims, Tokens } from '../../platform/tokens.ts';
import { jupyterRoot } from '../../schema/relay.ts';

export interface Session extends DashboardClaims {
  site: ClusterSite;
  expiresAtMs: number;
}

export interface Sessions {
  /** Null when the request has no valid cookie for this cluster. */
  read(request: IncomingMessage, at: SiteOfCluster): Promise<Session | null>;
  /** Returns the cookie for a valid link to this site of the cluster, or null. */
  exchange(link: string, at: SiteOfCluster): Promise<string | null>;
  /** False once its API token was revoked, has expired, lost its user, or may no longer use the site. */
  isGood(session: Pick<Session, 'workspace' | 'tokenId' | 'site'>): Promise<boolean>;
}

export interface SiteOfCluster {
  cluster: number;
  site: ClusterSite;
}

/** The cookie's path: a dashboard's page never receives Jupyter's cookie. */
const cookies = {
  dashboard: { name: 'ropewalk_dashboard', path: (cluster: number) => `/clusters/${cluster}/` },
  jupyter: { name: 'ropewalk_jupyter', path: jupyterRoot },
} as const;
/** More cookies of one name than we ever set are forged. */
const maxCookies = 5;

export interface SessionsOptions {
  tokens: Tokens;
  isSecure: boolean;
  isGood: Sessions['isGood'];
}

export function createSessions({ tokens, isSecure, ...options }: SessionsOptions): Sessions {
  // A session whose token cannot be checked stays valid: an outage of the database ends no session.
  const isGood: Sessions['isGood'] = (session) => options.isGood(session).catch(() => true);
  return {
    isGood,
    async read(request, { cluster, site }) {
      for (const value of cookiesOf(request, cookies[site].name)) {
        const session = await orNull(tokens.verifyDashboardSession(value, site));
        if (session?.cluster === cluster && (await isGood({ ...session, site }))) return { ...session, site };
      }
      return null;
    },
    async exchange(link, { cluster, site }) {
      const claims = await orNull(tokens.verifyDashboard(link, site));
      if (claims === null || claims.cluster !== cluster || !(await isGood({ ...claims, site }))) return null;
      const { token, expiresAtMs } = await tokens.mintDashboardSession(claims, site);
      const parts = [
        `${cookies[site].name}=${token}`,
        `Path=${cookies[site].path(cluster)}`,
        `Max-Age=${dashboardSessionTtlMs / 1000}`,
        `Expires=${new Date(expiresAtMs).toUTCString()}`,
        'HttpOnly',
        'SameSite=Strict',
        ...(isSecure ? ['Secure'] : []),
      ];
      return parts.join('; ');
    },
  };
}

function cookiesOf({ headers }: IncomingMessage, cookieName: string): string[] {
  return (headers.cookie ?? '')
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(`${cookieName}=`))
    .map((cookie) => cookie.slice(cookieName.length + 1))
    .slice(0, maxCookies);
}

/** Null for an invalid token; all other errors are thrown. */
async function orNull<T>(verified: Promise<T>): Promise<T | null> {
  try {
    return await verified;
  } catch (error) {
    if (error instanceof RopewalkError && error.problem.code === 'UNAUTHENTICATED') return null;
    throw error;
  }
}
