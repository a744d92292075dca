// The API's environment, checked as a whole: all problems are reported, not only the first.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import {
  defaultMaxConnections,
  defaultOpenStreams,
  defaultRequestBurst,
  defaultRequestsPerSecond,
} from '../domain/requests/limits.ts';
import { defaultArchiveDays } from '../domain/environment/limits.ts';
import { maxFileBytes } from '../domain/file-limits.ts';
import {
  ingressPolicySyntax,
  parseIngressPolicy,
  type IngressPolicy,
} from '../domain/cluster/capacity/ingress-policy.ts';
import { clusterPlaceholder, dashboardOrigin } from '../domain/cluster/dask/dashboard-url.ts';
import {
  isLoopback,
  parseListenAddress,
  readEnvironment,
  type Environment,
  type EnvironmentProblem,
} from '../platform/environment.ts';
import {
  readSignIn,
  sessionMsOf,
  signInExamples,
  signInProblems,
  signInVariables,
  type SignInEnvironment,
} from './sign-in-settings.ts';
import { mailExamples, mailProblems, mailVariables, readMail, type MailEnvironment } from './mail-settings.ts';
import { keysSecretArn, keysSecretExample } from '../platform/keys-location.ts';
import { bucketLocation, bucketLocationExample, type BucketLocation } from '../platform/objects/location.ts';

export interface Settings {
  home: string;
  /** PostgreSQL; null: SQLite in the home. */
  databaseUrl: string | null;
  listen: string;
  port: number;
  publicUrl: string;
  /** The separate listener for dashboards, and its URL in browsers; null turns dashboards off. */
  dashboards: { port: number; url: string } | null;
  /** Null: the object store is a directory in the home. */
  bucket: BucketLocation | null;
  /** ARN of the secret with the keys; null: the keys are in the home. */
  keysSecret: string | null;
  hostId: string;
  logLevel: string;
  /** Address of `/metrics`; null to not serve it. */
  metrics: { host: string; port: number } | null;
  /** Time for open requests when the process must end. */
  drainMs: number;
  /** Rates of one user. */
  quotas: { requestsPerSecond: number; requestBurst: number; openStreams: number };
  maxConnections: number;
  /** Maximum number of instances that one host runs at a time. */
  maxLocalInstances: number;
  /** Environments that instances share, in the object store. */
  archives: { keptMs: number; maxBytes: number };
  /** Further host names under which the API answers, besides addresses, localhost and the host of `publicUrl`. */
  allowedHosts: string[];
  /** Number of proxies before the API that append to X-Forwarded-For. */
  trustedProxies: number;
  /** Allows webhooks to loopback, private and link-local addresses. */
  allowPrivateWebhooks: boolean;
  ingressPolicy: IngressPolicy;
  /** The operator's mail server; null to send no e-mail. */
  mail: MailEnvironment | null;
  /** The length of a session that a sign-in begins. */
  sessionMs: number;
  /** Sign-in at an identity provider; null for only API tokens. */
  signIn: SignInEnvironment | null;
  /** The endpoint for spans; null turns tracing off. */
  otlpEndpoint: string | null;
  /** The agent program for cloud instances to download; null to publish none. */
  agentBundle: string | null;
  /** The web application that web/build.ts wrote; null to not serve it. */
  webBundle: string | null;
}

/** `also`: problems that the caller has found, for the same message. */
export function readSettings(env: Environment, also: EnvironmentProblem[] = []): Settings {
  const values = readEnvironment({
    program: 'API',
    env,
    schema: environment,
    examples,
    also: () => [
      ...also,
      ...publicUrlProblems(env),
      ...dashboardUrlProblems(env),
      ...signInProblems(env),
      ...mailProblems(env),
    ],
  });
  return {
    home: values.ROPEWALK_HOME,
    databaseUrl: values.ROPEWALK_DATABASE_URL ?? null,
    listen: values.ROPEWALK_LISTEN,
    port: values.ROPEWALK_PORT,
    publicUrl: values.ROPEWALK_PUBLIC_URL ?? `http://127.0.0.1:${values.ROPEWALK_PORT}`,
    dashboards: readDashboards(values),
    bucket: values.ROPEWALK_OBJECTS ?? null,
    keysSecret: values.ROPEWALK_KEYS_SECRET ?? null,
    hostId: values.ROPEWALK_HOST_ID,
    logLevel: values.ROPEWALK_LOG_LEVEL,
    metrics: parseListenAddress(values.ROPEWALK_METRICS_ADDRESS ?? ''),
    drainMs: values.ROPEWALK_DRAIN_SECONDS * 1_000,
    quotas: {
      requestsPerSecond: values.ROPEWALK_REQUESTS_PER_SECOND,
      requestBurst: Math.max(values.ROPEWALK_REQUESTS_PER_SECOND * secondsOfBurst, 1),
      openStreams: values.ROPEWALK_OPEN_STREAMS,
    },
    maxConnections: values.ROPEWALK_MAX_CONNECTIONS,
    maxLocalInstances: values.ROPEWALK_MAX_LOCAL_INSTANCES,
    archives: {
      keptMs: values.ROPEWALK_ENVIRONMENT_DAYS * 86_400_000,
      maxBytes: values.ROPEWALK_ENVIRONMENT_MIB * 1024 ** 2,
    },
    allowedHosts: values.ROPEWALK_ALLOWED_HOSTS,
    trustedProxies: values.ROPEWALK_TRUSTED_PROXIES,
    ingressPolicy: parseIngressPolicy(values.ROPEWALK_INGRESS) ?? 'limited',
    allowPrivateWebhooks: values.ROPEWALK_WEBHOOK_PRIVATE === 'allow',
    signIn: readSignIn(values),
    sessionMs: sessionMsOf(values),
    mail: readMail(values),
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    agentBundle: values.ROPEWALK_AGENT_BUNDLE ?? null,
    webBundle: values.ROPEWALK_WEB_BUNDLE ?? null,
  };
}

/** Seconds of the rate that may arrive at once after a quiet time. */
const secondsOfBurst = defaultRequestBurst / defaultRequestsPerSecond;

const atLeastOne = (most: number) =>
  z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(most, `must be at most ${most}`);

const port = z.coerce
  .number('must be a port')
  .int('must be a port')
  .min(0, 'must be a port')
  .max(65_535, 'must be at most 65535');

const file = z.string().refine((path) => existsSync(path), 'names no file of this machine');

const environment = z.object({
  ROPEWALK_HOME: z.string().min(1).default(join(homedir(), '.ropewalk')),
  ROPEWALK_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a URL of PostgreSQL' }).optional(),
  ROPEWALK_LISTEN: z.union([z.ipv4(), z.ipv6()], 'must be an IP address of this machine').default('127.0.0.1'),
  ROPEWALK_PORT: port,
  ROPEWALK_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  ROPEWALK_DASHBOARD_PORT: port.optional(),
  ROPEWALK_DASHBOARD_URL: z
    .string()
    .refine(isDashboardUrl, 'must be an http or https URL without a path; its host may have one {cluster}')
    .optional(),
  ROPEWALK_OBJECTS: bucketLocation.optional(),
  ROPEWALK_KEYS_SECRET: keysSecretArn.optional(),
  ROPEWALK_HOST_ID: z
    .string('must be set')
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, "_" and "-", at most 64'),
  ROPEWALK_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a level of the log')
    .default('info'),
  ROPEWALK_METRICS_ADDRESS: z
    .string()
    .refine((text) => parseListenAddress(text) !== null, 'must be an address and a port')
    .optional(),
  ROPEWALK_DRAIN_SECONDS: z.coerce
    .number('must be a number of seconds')
    .min(1, 'must be at least 1')
    .max(600, 'must be at most 600')
    .default(10),
  ROPEWALK_REQUESTS_PER_SECOND: atLeastOne(1_000_000).default(defaultRequestsPerSecond),
  ROPEWALK_OPEN_STREAMS: atLeastOne(1_000_000).default(defaultOpenStreams),
  ROPEWALK_MAX_CONNECTIONS: atLeastOne(1_000_000).default(defaultMaxConnections),
  ROPEWALK_MAX_LOCAL_INSTANCES: atLeastOne(1_000_000).default(32),
  ROPEWALK_ENVIRONMENT_DAYS: atLeastOne(3_650).default(defaultArchiveDays),
  ROPEWALK_ENVIRONMENT_MIB: atLeastOne(maxFileBytes / 1024 ** 2).default(maxFileBytes / 1024 ** 2),
  ROPEWALK_ALLOWED_HOSTS: z
    .string()
    .regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/i, 'must be host names with commas between them')
    .transform((text) => text.split(','))
    .default([]),
  ROPEWALK_TRUSTED_PROXIES: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .max(10, 'must be at most 10')
    .default(0),
  ROPEWALK_INGRESS: z
    .string()
    .refine((text) => parseIngressPolicy(text) !== null, ingressPolicySyntax)
    .default('any'),
  ROPEWALK_WEBHOOK_PRIVATE: z.enum(['allow', 'refuse'], 'must be allow or refuse').default('refuse'),
  ...signInVariables,
  ...mailVariables,
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  ROPEWALK_AGENT_BUNDLE: file.optional(),
  ROPEWALK_WEB_BUNDLE: file.optional(),
});

const examples = {
  ROPEWALK_DATABASE_URL: 'postgresql://ropewalk@db.example.com/ropewalk',
  ROPEWALK_LISTEN: '0.0.0.0',
  ROPEWALK_PORT: '7300',
  ROPEWALK_PUBLIC_URL: 'https://ropewalk.example.com',
  ROPEWALK_DASHBOARD_PORT: '7301',
  ROPEWALK_DASHBOARD_URL: 'https://cluster-{cluster}.dashboards.example.com',
  ROPEWALK_OBJECTS: bucketLocationExample,
  ROPEWALK_KEYS_SECRET: keysSecretExample,
  ROPEWALK_HOST_ID: 'host_1',
  ROPEWALK_LOG_LEVEL: 'info',
  ROPEWALK_METRICS_ADDRESS: '127.0.0.1:9464',
  ROPEWALK_DRAIN_SECONDS: '10',
  ROPEWALK_REQUESTS_PER_SECOND: '500',
  ROPEWALK_OPEN_STREAMS: '100',
  ROPEWALK_MAX_CONNECTIONS: '10000',
  ROPEWALK_MAX_LOCAL_INSTANCES: '32',
  ROPEWALK_ENVIRONMENT_DAYS: '30',
  ROPEWALK_ENVIRONMENT_MIB: '2048',
  ROPEWALK_ALLOWED_HOSTS: 'ropewalk.internal,api-1',
  ROPEWALK_TRUSTED_PROXIES: '1',
  ROPEWALK_INGRESS: 'limited',
  ROPEWALK_WEBHOOK_PRIVATE: 'allow',
  ...signInExamples,
  ...mailExamples,
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  ROPEWALK_AGENT_BUNDLE: 'dist/agent.mjs',
  ROPEWALK_WEB_BUNDLE: 'dist/web.json',
};

/** Links in responses, and agents' connections, would lead to the wrong machine. */
function publicUrlProblems(env: Environment): EnvironmentProblem[] {
  const { ROPEWALK_LISTEN: listen, ROPEWALK_PUBLIC_URL: publicUrl } = env;
  const isOpen = listen !== undefined && listen !== '' && !isLoopback(listen);
  if (!isOpen || (publicUrl !== undefined && publicUrl !== '')) return [];
  return [
    { variable: 'ROPEWALK_PUBLIC_URL', text: 'must be set when ROPEWALK_LISTEN is more than this machine alone' },
  ];
}

function isDashboardUrl(text: string): boolean {
  const url = URL.parse(text.replace(clusterPlaceholder, '1'));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  const [, host = ''] = /^https?:\/\/([^/]+)\/?$/.exec(text) ?? [];
  return (
    host !== '' && url.username === '' && url.password === '' && !/[{}]/.test(host.replace(clusterPlaceholder, ''))
  );
}

function readDashboards(values: z.infer<typeof environment>): Settings['dashboards'] {
  const { ROPEWALK_DASHBOARD_PORT: port, ROPEWALK_DASHBOARD_URL: url } = values;
  return port === undefined ? null : { port, url: url ?? `http://127.0.0.1:${port}` };
}

/** A dashboard on the API's origin could use the sign-in page; a default address on loopback would lead elsewhere. */
function dashboardUrlProblems(env: Environment): EnvironmentProblem[] {
  const { ROPEWALK_PUBLIC_URL: publicUrl = '', ROPEWALK_DASHBOARD_PORT: port = '' } = env;
  const { ROPEWALK_DASHBOARD_URL: url = '' } = env;
  const variable = 'ROPEWALK_DASHBOARD_URL';
  const api = URL.parse(publicUrl);
  if (url === '') {
    const isElsewhere = api !== null && !isLoopback(api.hostname);
    return port !== '' && isElsewhere ? [{ variable, text: 'must be set when ROPEWALK_PUBLIC_URL is' }] : [];
  }
  if (!isDashboardUrl(url) || api?.origin !== dashboardOrigin(url, 1)) return [];
  return [{ variable, text: 'must be another origin than ROPEWALK_PUBLIC_URL' }];
}
