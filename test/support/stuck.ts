// Workflows in the states of the command-order fault of Temporal's SDK, written or not replayable: produced without a kill, to
// happen each time.
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { NativeConnection, WorkflowBundleWithSourceMap } from '@temporalio/worker';

import { eventually } from './eventually.ts';

const pathOf = (file: string): string => new URL(file, import.meta.url).pathname;

export const fixture = pathOf('../integration/fixtures/noted.ts');
/** The same, with a workflow that cannot replay its histories by `fixture`. */
export const changedFixture = pathOf('../integration/fixtures/changed.ts');
export const updatesLast = { workflowModules: [pathOf('../../workflows/updates-last.ts')] };

/** A worker's code: with or without the interceptor under test. */
export interface Code {
  workflowsPath: string;
  interceptors?: { workflowModules: string[] };
}

export interface Scene {
  client: Client;
  native: NativeConnection;
  taskQueue: string;
  code: Code;
}

/**
 * A first workflow task without commands, then an update to a worker that has evicted the workflow: the worker handles both
 * together, which no replay does. Without the interceptor, the workflow is stuck from then on.
 */
export async function makeStuck(scene: Scene, workflowId: string, memo: Record<string, string> = {}): Promise<void> {
  // On a busy machine a first attempt that timed out would leave no failure in the history.
  const handle = await start(scene, { type: 'noted', workflowId, memo, workflowTaskTimeout: 5_000 });
  await withWorker(scene, () => began(scene, workflowId, 'workflowTaskCompletedEventAttributes'));
  await withWorker(scene, () => handle.executeUpdate<number, []>('note'));
}

/** The history of a worker that is killed in the workflow task after an activity: an update arrives before the next worker. */
export async function afterDeath(scene: Scene, workflowId: string): Promise<void> {
  const { client, native } = scene;
  const { namespace } = client.options;
  const handle = await start(scene, { type: 'acting', workflowId, memo: {}, workflowTaskTimeout: 1_000 });
  await withWorker(scene, () => began(scene, workflowId, 'activityTaskScheduledEventAttributes'));
  const activities = { act: async () => 'done' };
  const acts = await Worker.create({ connection: native, namespace, taskQueue: 'acts', activities });
  await acts.runUntil(began(scene, workflowId, 'activityTaskCompletedEventAttributes'));
  await dieInTask(scene, workflowId);
  await withWorker(scene, () => handle.executeUpdate<number, []>('note'));
}

/** Takes the pending workflow task like a worker that is then killed: the task times out, and the next worker gets it. */
export async function dieInTask(scene: Scene, workflowId: string): Promise<void> {
  const { client, taskQueue } = scene;
  const { namespace } = client.options;
  await client.withDeadline(Date.now() + 30_000, () =>
    client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: 'dead' }),
  );
  await began(scene, workflowId, 'workflowTaskTimedOutEventAttributes');
}

/** The worker caches no workflow: each of its workflow tasks begins with a replay. */
export async function withWorker<T>({ client, native, taskQueue, code }: Scene, during: () => Promise<T>): Promise<T> {
  const { namespace } = client.options;
  const options = { connection: native, namespace, taskQueue, maxCachedWorkflows: 0 };
  const worker = await Worker.create({ ...options, ...(await bundled(code)) });
  return worker.runUntil(during());
}

const bundles = new Map<string, Promise<WorkflowBundleWithSourceMap>>();

/** The code for a worker or a replay, bundled once: a worker that bundles it itself takes seconds of a core each time. */
export async function bundled({
  workflowsPath,
  interceptors,
}: Code): Promise<{ workflowBundle: WorkflowBundleWithSourceMap }> {
  const workflowInterceptorModules = interceptors?.workflowModules ?? [];
  const key = [workflowsPath, ...workflowInterceptorModules].join('\n');
  const made =
    bundles.get(key) ??
    bundleWorkflowCode({ workflowsPath, workflowInterceptorModules, logger: new DefaultLogger('WARN') });
  bundles.set(key, made);
  return { workflowBundle: await made };
}

interface Start {
  type: string;
  workflowId: string;
  memo: Record<string, string>;
  /** Milliseconds. */
  workflowTaskTimeout: number;
}

const start = ({ client, taskQueue }: Scene, { type, ...options }: Start) =>
  client.workflow.start(type, { taskQueue, args: [], ...options });

function began({ client }: Scene, workflowId: string, name: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const isThere = async (): Promise<boolean> =>
    ((await handle.fetchHistory()).events ?? []).some((event) => Object.hasOwn(event, name));
  return eventually(isThere);
}
