// Run by bench/replay.ts: replays a history three times and prints how many milliseconds the fastest took.
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';

import { historyOf } from '../test/platform/workflow-vm-history.ts';

const logger = new DefaultLogger('ERROR', () => undefined);
Runtime.install({ logger });
const workflowsPath = new URL('../test/platform/workflow-vm-code.ts', import.meta.url).pathname;
const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
const history = historyOf('turns', Number(process.argv[2]));
const times: number[] = [];
for (let nth = 0; nth < 3; nth += 1) {
  const began = performance.now();
  await Worker.runReplayHistory({ workflowBundle }, history);
  times.push(performance.now() - began);
}
process.stdout.write(String(Math.min(...times)));
