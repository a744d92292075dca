// The Temporal worker: runs the workflows, the activities that any worker can run, and, on this machine, the local
// provider's activities on a queue of their own, so that `terminate` reaches the host that holds the process.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';

import { createArchiveActivities } from './activities/archive.ts';
import { createInstanceActivities } from './activities/instances.ts';
import { createNumberActivities } from './activities/numbers.ts';
import { createSweepListActivities } from './activities/sweep-list.ts';
import { createSweepActivities } from './activities/sweep.ts';
import { loadKeys } from './platform/keys.ts';
import { createDirectoryObjects } from './platform/objects/directory.ts';
import { createTokens } from './platform/tokens.ts';
import { createVault } from './platform/vault/vault.ts';
import { createLocalProvider } from './providers/local/provider.ts';
import { createRegistry } from './providers/registry.ts';
import { controlQueue } from './workflows/messages.ts';

const environment = z.object({
  ROPEWALK_HOME: z.string().min(1),
  ROPEWALK_HOST_ID: z.string().min(1),
  ROPEWALK_API_URL: z.url(),
  ROPEWALK_AGENT_BUNDLE: z.string().min(1),
  ROPEWALK_WORKFLOW_BUNDLE: z.string().min(1).optional(),
  ROPEWALK_MAX_LOCAL_INSTANCES: z.coerce.number().int().min(1).default(32),
  ROPEWALK_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
});

async function main(): Promise<void> {
  const parsed = environment.safeParse(process.env);
  if (!parsed.success) {
    process.stderr.write(`The worker's environment is not complete:\n${z.prettifyError(parsed.error)}\n`);
    process.exit(2);
  }
  const env = parsed.data;
  const logger = pino({ level: env.ROPEWALK_LOG_LEVEL, base: { process: 'worker' } });
  Runtime.install({
    logger: {
      log: (level, message, meta) => isByDesign(message) || logger[levels[level]]({ ...meta }, message),
      trace: (message, meta) => logger.trace({ ...meta }, message),
      debug: (message, meta) => logger.debug({ ...meta }, message),
      info: (message, meta) => logger.info({ ...meta }, message),
      warn: (message, meta) => isByDesign(message) || logger.warn({ ...meta }, message),
      error: (message, meta) => logger.error({ ...meta }, message),
    },
    shutdownSignals: ['SIGINT', 'SIGTERM'],
  });

  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const connection = await NativeConnection.connect(connectionOptions);
  const client = new Client({ connection: await Connection.connect(connectionOptions), namespace });
  const objects = createDirectoryObjects(join(env.ROPEWALK_HOME, 'objects'));
  const keys = await loadKeys(join(env.ROPEWALK_HOME, 'keys.json'));
  const provider = createLocalProvider({
    home: env.ROPEWALK_HOME,
    agentBundle: env.ROPEWALK_AGENT_BUNDLE,
    nodePath: process.execPath,
    maxInstances: env.ROPEWALK_MAX_LOCAL_INSTANCES,
    cores: availableParallelism(),
    // In line on this machine is better than in the workflow's back-off, which would poll.
    waitForRoomMs: 20_000,
    environment: process.env,
  });

  const registry = createRegistry([provider]);
  const common = { connection, namespace, shutdownGraceTime: '3s', shutdownForceTime: '10s' } as const;
  const control = await Worker.create({
    ...common,
    taskQueue: controlQueue,
    ...(env.ROPEWALK_WORKFLOW_BUNDLE === undefined
      ? { workflowsPath: new URL('workflows/index.ts', import.meta.url).pathname }
      : { workflowBundle: { codePath: env.ROPEWALK_WORKFLOW_BUNDLE } }),
    activities: {
      ...createArchiveActivities({ objects, vault: createVault(objects, keys) }),
      ...createNumberActivities({ client }),
      ...createSweepActivities({ client, objects }),
    },
    // A killed worker's sticky queue would hold each of its workflows for 10 s otherwise.
    stickyQueueScheduleToStartTimeout: '2s',
    maxCachedWorkflows: 2_000,
  });
  const local = await Worker.create({
    ...common,
    taskQueue: `local/${env.ROPEWALK_HOST_ID}`,
    activities: {
      ...createInstanceActivities({
        provider: registry,
        tokens: createTokens(keys),
        apiUrl: env.ROPEWALK_API_URL,
        probeApi: () => answers(`${env.ROPEWALK_API_URL}/healthz`),
      }),
      ...createSweepListActivities({ provider: registry }),
    },
    maxHeartbeatThrottleInterval: '2s',
  });
  logger.info('worker running');
  await Promise.all([control.run(), local.run()]);
}

/** The local queue has activities only. */
const isByDesign = (message: string): boolean => message.startsWith('No workflows registered');

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

await main();
