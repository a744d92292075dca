// What a handler finds in its request, and how it becomes a service's context.
import type { OpenAPIHono } from '@hono/zod-openapi';

import type { InstanceClaims, LaunchClaims } from '../../platform/tokens.ts';
import type { Actor, Context, Deps } from '../../services/context.ts';

export interface AppEnv {
  Variables: {
    requestId: string;
    deps: Deps;
    /** The answer is the application's page, at an address that it does not have. */
    isNoSuchPage?: boolean;
    /** Set by the middleware that guards people's routes. */
    actor: Actor;
    /** Set by the middlewares that guard agents' routes. */
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
