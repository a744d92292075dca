// Runs a workflow that never yields, and then one that ends, on the Temporal server of its arguments, and prints the outcome of each.
import { fileURLToPath } from 'node:url';

import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

import { eventually } from '../support/eventually.ts';

const [address = '', namespace = ''] = process.argv.slice(2);
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { forward: {} } },
});
const taskQueue = 'endless';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('workflow-vm-code.ts', import.meta.url)),
});
const client = new Client({ connection: await Connection.connect({ address }), namespace });
await worker.runUntil(async () => {
  // Temporal must not time the workflow task out before the worker ends it.
  const endless = await client.workflow.start('endless', {
    taskQueue,
    workflowId: 'endless',
    workflowTaskTimeout: 60_000,
  });
  console.log(
    await eventually(async () => {
      const { events } = await endless.fetchHistory();
      return events?.find((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes
        ?.failure?.message;
    }),
  );
  await endless.terminate();
  await client.workflow.execute('turns', { taskQueue, workflowId: 'turns', args: [0] });
  console.log('done');
});
process.exit();
