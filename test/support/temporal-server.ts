// A real Temporal server in memory for tests of workflows alone, with the real workflow code and activities of the test's
// own making. Ended by pid, also when the test fails.
import { spawn } from 'node:child_process';

import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { reconcileScheduleId, reconcileType } from '../../contracts/reconcile.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

export type Activities = Record<string, (input: never) => Promise<unknown>>;

export interface TestTemporal {
  address: string;
  client: Client;
  stop: () => Promise<void>;
}

const namespace = 'ropewalk';

Runtime.install({ logger: new DefaultLogger('ERROR') });

export async function startTemporal(options: {
  dynamicConfig?: Record<string, number>;
  control: Activities;
  /** Activities of the provider's queue `local/test`. */
  instances: Activities;
}): Promise<TestTemporal> {
  const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
  const port = await freePort();
  const attributes = ['RopewalkWorkspace', 'RopewalkUser', 'RopewalkStatus'];
  const server = spawn(
    binary,
    [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--headless', '--log-level', 'never'],
      ...['--namespace', namespace],
      ...attributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...Object.entries(options.dynamicConfig ?? {}).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${value}`,
      ]),
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const ended = async (): Promise<void> => {
    server.kill('SIGKILL');
    await exited;
  };
  try {
    const address = `127.0.0.1:${port}`;
    const connection = await eventually(() => Connection.connect({ address, connectTimeout: '1s' }));
    const client = new Client({ connection, namespace });
    const native = await NativeConnection.connect({ address });
    const common = { connection: native, namespace };
    const workflowsPath = new URL('../../workflows/index.ts', import.meta.url).pathname;
    const workers = [
      await Worker.create({
        ...common,
        taskQueue: controlQueue,
        workflowsPath,
        interceptors: { workflowModules: [new URL('../../workflows/updates-last.ts', import.meta.url).pathname] },
        activities: options.control,
      }),
      await Worker.create({ ...common, taskQueue: 'local/test', activities: options.instances }),
    ];
    const runs = workers.map((worker) => worker.run());
    return {
      address,
      client,
      stop: async () => {
        for (const worker of workers) worker.shutdown();
        await Promise.all(runs);
        await native.close();
        await connection.close();
        await ended();
      },
    };
  } catch (error) {
    await ended();
    throw error;
  }
}

/** The schedule that says whose a namespace is; here it never runs. */
export async function claimNamespace(client: Client, deploymentId: string): Promise<void> {
  await client.schedule.create({
    scheduleId: reconcileScheduleId,
    spec: {},
    action: { type: 'startWorkflow', workflowType: reconcileType, taskQueue: controlQueue },
    memo: { deploymentId },
    state: { paused: true },
  });
}
