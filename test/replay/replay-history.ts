// Replays histories with the workflow code of a folder.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';

export const repo = join(import.meta.dirname, '../..');
const histories = join(import.meta.dirname, 'histories');
/** Names of the recorded histories. */
export const names = readdirSync(histories)
  .filter((name) => name.endsWith('.bin'))
  .toSorted();
const quiet = {
  log: () => undefined,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

// The thrown error reports a violation; the worker's own log lines about it would only hide the results.
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

export async function bundle(root: string): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    workflowInterceptorModules: [join(root, 'workflows/updates-last.ts')],
    logger: quiet,
  });
}

/** Rejects with Temporal's error when the code does not replay the history. */
export async function replay(workflowBundle: WorkflowBundleWithSourceMap, name: string): Promise<void> {
  await replayHistory(workflowBundle, read(name), name);
}

/** Rejects with Temporal's error when the code does not replay this history, called `name`. */
export async function replayHistory(
  workflowBundle: WorkflowBundleWithSourceMap,
  history: proto.temporal.api.history.v1.History,
  name: string,
): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle }, history, `replay/${name}`);
}

export function read(name: string): proto.temporal.api.history.v1.History {
  return proto.temporal.api.history.v1.History.decode(readFileSync(join(histories, name)));
}

/** The workflow type of a history. */
export function typeOf(history: proto.temporal.api.history.v1.History): string | undefined {
  return history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? undefined;
}
