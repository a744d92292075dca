// A namespace of the run's shared Temporal server, for one test file. For tests that kill no server.
import { askForTemporal } from './shared-client.ts';
import type { DynamicConfig } from './temporal-process.ts';
import { startWorkers } from './temporal-server.ts';
import type { TestTemporal, WorkerActivities } from './temporal-server.ts';

/** Files with the same `dynamicConfig` share a server; the workflow code is bundled once per run. */
export async function sharedTemporal({
  dynamicConfig = {},
  ...activities
}: WorkerActivities & { dynamicConfig?: DynamicConfig }): Promise<TestTemporal> {
  const { address, namespace, workflowBundle } = await askForTemporal({ dynamicConfig });
  return startWorkers({ address, namespace, code: { workflowBundle: { codePath: workflowBundle } }, ...activities });
}
