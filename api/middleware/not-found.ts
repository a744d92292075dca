// Unknown paths, and methods that a path does not support. Browsers get the application's page, programs an error response.
import type { Context } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import type { App, AppEnv } from '../routes/app.ts';
import { answerNoSuchPage } from '../routes/web.ts';
import { answerError } from './errors.ts';

/** Collects the app's routes at the first such request. */
export function createNotFound(app: App): (c: Context<AppEnv>) => Response {
  return (c) => {
    const methods = app.routes
      .filter(({ method, path }) => method !== 'ALL' && matches(path, c.req.path))
      .map(({ method }) => method);
    if (methods.length === 0) {
      const { web } = c.var.deps;
      if (web !== null && isOpenedByBrowser(c)) return answerNoSuchPage(c, web);
      const message = `There is nothing at ${c.req.path.slice(0, 200)}.`;
      return answerError(new RopewalkError({ code: 'NOT_FOUND', message, hint: 'GET /docs lists all routes.' }), c);
    }
    const allowed = [...new Set(methods)].join(', ');
    c.header('Allow', allowed);
    const message = `${c.req.method} does not work here.`;
    return answerError(new RopewalkError({ code: 'METHOD_NOT_ALLOWED', message, hint: `Use ${allowed}.` }), c);
  };
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => matchesPart(part, given[index] ?? ''));
}

/** `:number{[0-9]+}` matches its pattern, `:number` matches everything. */
function matchesPart(wanted: string, given: string): boolean {
  const [, pattern] = /^:\w+\{(.+)\}$/.exec(wanted) ?? [];
  if (pattern !== undefined) return new RegExp(`^(?:${pattern})$`).test(given);
  return wanted.startsWith(':') || wanted === given;
}

/** Only programs use paths below /v1. */
function isOpenedByBrowser(c: Context<AppEnv>): boolean {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
  const isApi = c.req.path === '/v1' || c.req.path.startsWith('/v1/');
  return isRead && !isApi && (c.req.header('Accept') ?? '').toLowerCase().includes('text/html');
}
