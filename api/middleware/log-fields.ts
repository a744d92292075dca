// Fields of every log line about a request: its id, its owner and its subject.
import type { Context } from 'hono';

import type { AppEnv } from '../routes/app.ts';

export interface LogFields {
  requestId: string;
  workspace?: string;
  cluster?: number;
  job?: number;
  instance?: string;
}

export function logFields(c: Context<AppEnv>): LogFields {
  // A request that was refused before authentication has neither owner nor token.
  const { requestId, actor, instance, launch }: Partial<AppEnv['Variables']> & { requestId: string } = c.var;
  if (instance !== undefined) {
    const { workspace, cluster, job } = instance;
    return { requestId, workspace, cluster, ...(job === null ? {} : { job }), instance: instance.instance };
  }
  if (launch !== undefined) return { requestId, workspace: launch.workspace, cluster: launch.cluster };
  return { requestId, ...(actor === undefined ? {} : { workspace: actor.workspace }), ...subjectOf(c.req.path) };
}

/** A job and its cluster share one number. */
function subjectOf(path: string): { job?: number; cluster?: number } {
  const [, kind, number] = /^\/v1\/(jobs|clusters)\/(\d{1,12})(?:\/|$)/.exec(path) ?? [];
  if (number === undefined) return {};
  return kind === 'jobs' ? { job: Number(number), cluster: Number(number) } : { cluster: Number(number) };
}
