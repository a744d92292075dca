// The variables of a request's handler, and their conversion to a service's context.
import type { OpenAPIHono } from '@hono/zod-openapi';

import type { InstanceClaims, LaunchClaims } from '../../platform/tokens.ts';
import type { LargeContent } from '../large-bodies/contents.ts';
import type { Actor, Context, Deps } from '../../services/context.ts';

export interface AppEnv {
  Variables: {
    requestId: string;
    deps: Deps;
    /** The response is the application's page, at an unknown address. */
    isNoSuchPage?: boolean;
    /** Set by the middleware that guards users' routes. */
    actor: Actor;
    /** Taken out of the body of a job (api/large-bodies/contents.ts). */
    largeContents?: LargeContent[];
    /** Set by the middleware that guards agents' routes. */
    launch: LaunchClaims;
    instance: InstanceClaims & { expiresAtMs: number };
  };
}

export type App = OpenAPIHono<AppEnv>;

/** The context of the caller that the route's middleware authenticated. */
export const contextOf = <A>(c: { var: AppEnv['Variables'] }, actor: A): Context<A> => ({
  deps: c.var.deps,
  actor,
  requestId: c.var.requestId,
});
