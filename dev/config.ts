// temporal-dev.yml: the composition of the one-machine stack. Parsed once, strictly, with all problems reported together. It
// never reads the environment: every setting is in the file.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';
import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import type { PrepareSettings } from '../ops/init/prepare.ts';

export type DevConfig = z.infer<typeof devConfig>;

export const defaultConfigPath = fileURLToPath(new URL('../temporal-dev.yml', import.meta.url));

export async function readDevConfig(path: string): Promise<DevConfig> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new RopewalkError(
      {
        code: 'VALIDATION',
        message: `cannot read the stack's description ${path}`,
        hint: 'Check the path given with --config.',
      },
      { cause },
    );
  });
  return parseDevConfig(text, path);
}

export function parseDevConfig(text: string, path: string): DevConfig {
  let raw: unknown;
  try {
    raw = parse(text) ?? {};
  } catch (cause) {
    throw new RopewalkError({ code: 'VALIDATION', message: `${path} is not YAML: ${String(cause)}` }, { cause });
  }
  const result = devConfig.safeParse(raw);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`);
  throw new RopewalkError({ code: 'VALIDATION', message: `${path} has problems:\n${problems.join('\n')}` });
}

/** Instances are processes of this machine, and most of them wait. temporal-dev.yml states the same number in words. */
const autoInstancesPerCore = 8;

export const localInstances = ({ worker: { maxLocalInstances } }: DevConfig): number =>
  maxLocalInstances === 'auto' ? autoInstancesPerCore * availableParallelism() : maxLocalInstances;

/** The file's settings for preparing a namespace. */
export const prepareSettings = (config: DevConfig): PrepareSettings => ({
  retentionDays: config.namespace.retentionDays,
  searchAttributes: config.searchAttributes,
  sweep: inMs(config.sweep),
  reconcile: inMs(config.reconcile),
  stuckWorkflows: {
    everyMs: 1_000 * config.stuckWorkflows.everySeconds,
    autoReset: config.stuckWorkflows.autoReset,
  },
});

const inMs = (timing: { everySeconds: number; graceSeconds: number }): { everyMs: number; graceMs: number } => ({
  everyMs: 1_000 * timing.everySeconds,
  graceMs: 1_000 * timing.graceSeconds,
});

const logLevel = z.enum(['debug', 'info', 'warn', 'error']);
const env = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.coerce.string());
const port = z.union([z.literal('auto'), z.number().int().min(1).max(65_535)]);
const seconds = z.number().min(1).max(86_400);
const identifier = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/);

const devConfig = z.strictObject({
  temporal: z.strictObject({
    version: z.literal(
      '1.9.1',
      'the only version with pinned hashes is 1.9.1; for another one, set TEMPORAL_CLI to its binary',
    ),
    logLevel: z.enum(['debug', 'info', 'warn', 'error', 'never']).default('error'),
    ui: z.boolean().default(false),
    sqlitePragmas: z.record(identifier, z.coerce.string().regex(/^[A-Za-z0-9_-]+$/)).default({}),
    dynamicConfig: z.record(identifier, z.union([z.string(), z.number(), z.boolean()])).default({}),
  }),
  namespace: z.strictObject({ name: identifier, retentionDays: z.number().int().min(1).max(3650) }),
  searchAttributes: z.array(identifier).max(10).default([]),
  sweep: z.strictObject({ everySeconds: seconds.default(300), graceSeconds: seconds.default(240) }).prefault({}),
  reconcile: z.strictObject({ everySeconds: seconds.default(300), graceSeconds: seconds.default(60) }).prefault({}),
  stuckWorkflows: z
    .strictObject({ everySeconds: seconds.default(60), autoReset: z.boolean().default(true) })
    .prefault({}),
  worker: z.strictObject({
    count: z.number().int().min(1).max(16).default(1),
    maxLocalInstances: z.union([z.literal('auto'), z.number().int().min(1).max(1000)]).default('auto'),
    logLevel: logLevel.default('warn'),
    env: env.default({}),
  }),
  api: z.strictObject({ logLevel: logLevel.default('warn'), env: env.default({}) }),
  ports: z.strictObject({ temporal: port, ui: port, api: port, dashboards: port }),
});
