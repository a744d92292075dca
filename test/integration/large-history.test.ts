// The history of one run on a real server, larger than what gRPC takes in a message by itself.
import { randomUUID } from 'node:crypto';

import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';

import { largeMessages } from '../../platform/large-messages.ts';
import { askForTemporal } from '../support/shared-client.ts';

it('is read by the clients of the control plane, which reset a stuck run of a large job', async () => {
  const { address, namespace } = await askForTemporal({ dynamicConfig: {} });
  const connection = await Connection.connect({ address, ...largeMessages });
  try {
    const client = new Client({ connection, namespace });
    const options = { taskQueue: `unpolled-${randomUUID()}`, workflowId: `large-${randomUUID()}` };
    const handle = await client.workflow.start('none', options);
    for (let n = 0; n < 5; n += 1) await handle.signal('more', 'x'.repeat(1024 * 1024));
    const { events } = await handle.fetchHistory();
    expect(events?.length).toBeGreaterThan(5);
    await handle.terminate();
  } finally {
    await connection.close();
  }
});
