// Access to dashboards: a browser that opens a valid link gets a cookie for that one cluster. Cookie and link are tokens of two
// audiences, so that neither is accepted as the other.
import type { IncomingMessage } from 'node:http';

import { RopewalkError } from '../../domain/errors.ts';
import { dashboardSessionTtlMs } from '../../domain/tokens/limits.ts';
import type { DashboardClaims, Tokens } from '../../platform/tokens.ts';

export interface Session extends DashboardClaims {
  expiresAtMs: number;
}

export interface Sessions {
  /** Null when the request brings no cookie that is good for this cluster. */
  read(request: IncomingMessage, cluster: number): Promise<Session | null>;
  /** The cookie for a link that is good for this cluster, or null. */
  exchange(link: string, cluster: number): Promise<string | null>;
  /** False once the API token that it hangs from was revoked, has expired, or lost its user. */
  isGood(session: Pick<Session, 'workspace' | 'tokenId'>): Promise<boolean>;
}

const cookieName = 'ropewalk_dashboard';
/** More of the name than we ever set: a forged cookie. */
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
    async read(request, cluster) {
      for (const value of cookiesOf(request)) {
        const session = await orNull(tokens.verifyDashboardSession(value));
        if (session?.cluster === cluster && (await isGood(session))) return session;
      }
      return null;
    },
    async exchange(link, cluster) {
      const claims = await orNull(tokens.verifyDashboard(link));
      if (claims === null || claims.cluster !== cluster || !(await isGood(claims))) return null;
      const { token, expiresAtMs } = await tokens.mintDashboardSession(claims);
      const parts = [
        `${cookieName}=${token}`,
        `Path=/clusters/${cluster}/`,
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

function cookiesOf({ headers }: IncomingMessage): string[] {
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
