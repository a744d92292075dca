// The real workflow code on a real Temporal server, with scripted activities. `startTemporal` starts a server for its caller
// alone; test files that kill no server use `sharedTemporal` of shared-temporal.ts.
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { WorkerOptions } from '@temporalio/worker';

import { controlQueue } from '../../contracts/flush.ts';
import { reconcileScheduleId, reconcileType } from '../../contracts/reconcile.ts';
import { eventually } from './eventually.ts';
import { startTemporalProcess } from './temporal-process.ts';
import type { DynamicConfig } from './temporal-process.ts';

export type Activities = Record<string, (input: never) => Promise<unknown>>;

export interface WorkerActivities {
  control: Activities;
  /** Activities of the provider's queue `local/test`. */
  instances: Activities;
}

export interface TestTemporal {
  address: string;
  client: Client;
  /** Ends the workers, and the server when it was started for this test. */
  stop: () => Promise<void>;
}

Runtime.install({ logger: new DefaultLogger('ERROR') });

export async function startTemporal({
  dynamicConfig = {},
  ...activities
}: WorkerActivities & { dynamicConfig?: DynamicConfig }): Promise<TestTemporal> {
  const namespace = 'ropewalk';
  const server = await startTemporalProcess({ namespaces: [namespace], dynamicConfig });
  try {
    const workers = await startWorkers({ address: server.address, namespace, code: sources, ...activities });
    return {
      ...workers,
      stop: async () => {
        await workers.stop();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A worker for the workflows and one for the provider's queue, on a server that may still be starting. */
export async function startWorkers({
  address,
  namespace,
  code,
  control,
  instances,
}: WorkerActivities & { address: string; namespace: string; code: WorkflowCode }): Promise<TestTemporal> {
  const connection = await eventually(() => Connection.connect({ address, connectTimeout: '1s' }));
  const native = await NativeConnection.connect({ address });
  const common = { connection: native, namespace };
  const workers = [
    await Worker.create({ ...common, ...code, taskQueue: controlQueue, activities: control }),
    await Worker.create({ ...common, taskQueue: 'local/test', activities: instances }),
  ];
  const runs = workers.map((worker) => worker.run());
  return {
    address,
    client: new Client({ connection, namespace }),
    stop: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await native.close();
      await connection.close();
    },
  };
}

type WorkflowCode = Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle' | 'interceptors'>;

const pathOf = (file: string): string => new URL(file, import.meta.url).pathname;

const sources: WorkflowCode = {
  workflowsPath: pathOf('../../workflows/index.ts'),
  interceptors: { workflowModules: [pathOf('../../workflows/updates-last.ts')] },
};

/** The schedule that records the owner of a namespace; here it never runs. */
export async function claimNamespace(client: Client, deploymentId: string): Promise<void> {
  await client.schedule.create({
    scheduleId: reconcileScheduleId,
    spec: {},
    action: { type: 'startWorkflow', workflowType: reconcileType, taskQueue: controlQueue },
    memo: { deploymentId },
    state: { paused: true },
  });
}
