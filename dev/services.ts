// The API and the Temporal workers of the stack: the program, settings and environment of each.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Client } from '@temporalio/client';

import { controlQueue } from '../contracts/flush.ts';
import type { Host } from '../ops/host.ts';
import { isPolledBy } from '../ops/pollers.ts';
import { type Bundles, compileCache, repository } from './build.ts';
import { type DevConfig, localInstances } from './config.ts';
import type { ChildSpec } from './supervisor.ts';
import type { Temporal } from './temporal.ts';

export interface ServiceContext {
  config: DevConfig;
  host: Host;
  temporal: Temporal;
  client: Client;
  /** See `plainEnv`. */
  plain: Record<string, string>;
  apiUrl: string;
  port: number;
  dashboardPort: number;
  bundles: Bundles;
  /** The pid of a running child. */
  pidOf: (name: string) => number | undefined;
}

/**
 * The environment of every child, without variables of npm, Temporal or another Ropewalk: children get those from us or not at
 * all. Operator settings are passed here, never on a command line, because a URL may contain a password.
 */
export function plainEnv(env: Record<string, string>, home: string): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !/^(npm_|TEMPORAL_|ROPEWALK_)/.test(name));
  const settings = operatorSettings.flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(settings),
    ROPEWALK_HOME: home,
    NODE_COMPILE_CACHE: compileCache,
  };
}

/** `enabled`: by temporal-dev.yml. Null when the environment names no other provider. */
export function ignoredProviders(env: Record<string, string>, enabled: readonly string[]): string | null {
  const named = env['ROPEWALK_PROVIDERS'] ?? '';
  const others = named.split(/[\s,]+/).filter((name) => name !== '' && !enabled.includes(name));
  if (others.length === 0) return null;
  return `ROPEWALK_PROVIDERS=${named} is ignored: "ropewalk dev" runs the ${enabled.join(', ')} provider only. For a cloud, see docs/operations.md`;
}

/**
 * Variables for the API and Temporal workers where the stack has no own value. Sections `env` of temporal-dev.yml override
 * them.
 */
const operatorSettings = [
  ...['ROPEWALK_DATABASE_URL', 'ROPEWALK_OBJECTS', 'ROPEWALK_LOCAL_DOLLARS_PER_HOUR'],
  ...['ROPEWALK_WEBHOOK_PRIVATE', 'ROPEWALK_ALLOWED_HOSTS', 'ROPEWALK_TRUSTED_PROXIES', 'ROPEWALK_DASHBOARD_URL'],
  ...['ROPEWALK_SMTP_URL', 'ROPEWALK_SMTP_URL_FILE', 'ROPEWALK_MAIL_FROM', 'ROPEWALK_MAIL_SIGN_IN'],
  'ROPEWALK_SESSION_HOURS',
  ...['ROPEWALK_REQUESTS_PER_SECOND', 'ROPEWALK_OPEN_STREAMS', 'ROPEWALK_MAX_CONNECTIONS', 'ROPEWALK_INGRESS'],
  ...['ISSUER', 'KIND', 'CLIENT_ID', 'CLIENT_SECRET', 'CLIENT_SECRET_FILE', 'NAME', 'DOMAINS', 'NEW_PEOPLE'].map(
    (name) => `ROPEWALK_OIDC_${name}`,
  ),
];

export function apiServer(context: ServiceContext): ChildSpec {
  const { config, host, temporal, plain, apiUrl, port, dashboardPort, bundles } = context;
  return {
    ...service('api', join(repository, 'api', 'server.ts')),
    env: {
      ...plain,
      ...temporal.env,
      ROPEWALK_PORT: String(port),
      ROPEWALK_PUBLIC_URL: apiUrl,
      ROPEWALK_DASHBOARD_PORT: String(dashboardPort),
      ROPEWALK_WEB_BUNDLE: bundles.web,
      ROPEWALK_HOST_ID: host.hostId,
      ROPEWALK_MAX_LOCAL_INSTANCES: String(localInstances(config)),
      ROPEWALK_LOG_LEVEL: config.api.logLevel,
      ...config.api.env,
    },
    isHealthy: () => answersOk(`${apiUrl}/healthz`),
  };
}

export function temporalWorkers(context: ServiceContext): ChildSpec[] {
  const { config, host, temporal, client, plain, apiUrl, bundles, pidOf } = context;
  const names = Array.from({ length: config.worker.count }, (_, index) =>
    index === 0 ? 'worker' : `worker-${index + 1}`,
  );
  return names.map((name) => ({
    ...service(name, join(repository, 'worker.ts'), workerOptions),
    env: {
      ...plain,
      ...temporal.env,
      ROPEWALK_API_URL: apiUrl,
      ROPEWALK_HOST_ID: host.hostId,
      ROPEWALK_AGENT_BUNDLE: bundles.agent,
      ROPEWALK_WORKFLOW_BUNDLE: bundles.workflows,
      ROPEWALK_MAX_LOCAL_INSTANCES: String(localInstances(config)),
      ROPEWALK_LOG_LEVEL: config.worker.logLevel,
      // The C library keeps freed memory in as many arenas as there were threads: 110 of 130 MB after a thousand jobs.
      MALLOC_ARENA_MAX: '2',
      ...config.worker.env,
    },
    isHealthy: async () => {
      const pid = pidOf(name);
      return pid !== undefined && isPolledBy(client, { queue: controlQueue, pid }).catch(() => false);
    },
  }));
}

/** The largest young generation that Node allows keeps 150 MB of garbage; package.json has the same options. */
const workerOptions = [
  '--max-semi-space-size=8',
  ...['--import', pathToFileURL(join(repository, 'platform', 'workflow-vm.ts')).href],
];

const service = (name: string, script: string, options: string[] = []): Omit<ChildSpec, 'env'> => ({
  name,
  command: process.execPath,
  args: [...options, script],
  healthyWithinMs: 180_000,
  stopWithinMs: 15_000,
});

async function answersOk(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
