// The Temporal worker's environment, validated at start: reports every problem, not only the first.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { z } from 'zod';

import { parseListenAddress, readEnvironment, type Environment, type EnvironmentProblem } from './environment.ts';
import { keysSecretArn, keysSecretExample } from './keys-location.ts';
import { bucketLocation, bucketLocationExample, type BucketLocation } from './objects/location.ts';

export interface WorkerSettings {
  home: string;
  /** PostgreSQL's URL; null: SQLite in the home. */
  databaseUrl: string | null;
  /** null: the object store is a directory in the home. */
  bucket: BucketLocation | null;
  /** ARN of the keys' secret; null: the keys are in the home. */
  keysSecret: string | null;
  hostId: string;
  apiUrl: string;
  agentBundle: string;
  /** null: the workflows are bundled from their sources. */
  workflowBundle: string | null;
  maxLocalInstances: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Address of `/metrics` and `/healthz`; null: not served. */
  metrics: { host: string; port: number } | null;
  /** Time limit of running activities when the process ends. */
  drainMs: number;
  /** Destination of spans; null: tracing is off. */
  otlpEndpoint: string | null;
}

/** `also`: problems that the caller found, for the same message. */
export function readWorkerSettings(env: Environment, also: EnvironmentProblem[] = []): WorkerSettings {
  const values = readEnvironment({ program: 'Temporal worker', env, schema: environment, examples, also: () => also });
  return {
    home: values.ROPEWALK_HOME,
    databaseUrl: values.ROPEWALK_DATABASE_URL ?? null,
    bucket: values.ROPEWALK_OBJECTS ?? null,
    keysSecret: values.ROPEWALK_KEYS_SECRET ?? null,
    hostId: values.ROPEWALK_HOST_ID,
    apiUrl: values.ROPEWALK_API_URL,
    // An agent starts in its own directory, so the path must be absolute.
    agentBundle: resolve(values.ROPEWALK_AGENT_BUNDLE),
    workflowBundle: values.ROPEWALK_WORKFLOW_BUNDLE ?? null,
    maxLocalInstances: values.ROPEWALK_MAX_LOCAL_INSTANCES,
    logLevel: values.ROPEWALK_LOG_LEVEL,
    metrics: parseListenAddress(values.ROPEWALK_METRICS_ADDRESS ?? ''),
    drainMs: values.ROPEWALK_DRAIN_SECONDS * 1_000,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
  };
}

const file = z.string('must be set').refine((path) => existsSync(path), 'names no file of this machine');
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

const environment = z.object({
  ROPEWALK_HOME: z.string('must be set').min(1),
  ROPEWALK_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a URL of PostgreSQL' }).optional(),
  ROPEWALK_OBJECTS: bucketLocation.optional(),
  ROPEWALK_KEYS_SECRET: keysSecretArn.optional(),
  ROPEWALK_HOST_ID: z
    .string('must be set')
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, "_" and "-", at most 64'),
  ROPEWALK_API_URL: webUrl,
  ROPEWALK_AGENT_BUNDLE: file,
  ROPEWALK_WORKFLOW_BUNDLE: file.optional(),
  ROPEWALK_MAX_LOCAL_INSTANCES: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(32),
  ROPEWALK_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error').default('info'),
  ROPEWALK_METRICS_ADDRESS: z
    .string()
    .refine((text) => parseListenAddress(text) !== null, 'must be an address and a port')
    .optional(),
  ROPEWALK_DRAIN_SECONDS: z.coerce
    .number('must be a number of seconds')
    .min(1, 'must be at least 1')
    .max(600, 'must be at most 600')
    .default(3),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
});

const examples = {
  ROPEWALK_HOME: '/var/lib/ropewalk',
  ROPEWALK_DATABASE_URL: 'postgresql://ropewalk@db.example.com/ropewalk',
  ROPEWALK_OBJECTS: bucketLocationExample,
  ROPEWALK_KEYS_SECRET: keysSecretExample,
  ROPEWALK_HOST_ID: 'host_1',
  ROPEWALK_API_URL: 'https://ropewalk.example.com',
  ROPEWALK_AGENT_BUNDLE: 'dist/agent.mjs',
  ROPEWALK_WORKFLOW_BUNDLE: 'dist/workflows.cjs',
  ROPEWALK_MAX_LOCAL_INSTANCES: '32',
  ROPEWALK_LOG_LEVEL: 'info',
  ROPEWALK_METRICS_ADDRESS: '127.0.0.1:9465',
  ROPEWALK_DRAIN_SECONDS: '3',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
};
