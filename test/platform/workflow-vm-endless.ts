// Replays a workflow that never comes back, and then one that does, and prints what came of each.
import { fileURLToPath } from 'node:url';

import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

import { historyOf } from './workflow-vm-history.ts';

Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { forward: {} } },
});
const code = { workflowsPath: fileURLToPath(new URL('workflow-vm-code.ts', import.meta.url)) };
for (const type of ['endless', 'turns']) {
  await Worker.runReplayHistory(code, historyOf(type)).then(
    () => console.log('well'),
    (error: unknown) => console.log(String(error).replaceAll('\n', ' ')),
  );
}
