// The files of recorded histories, and their download from a running stack's Temporal server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

import type { TestStack } from '../support/stack.ts';

export const histories = join(import.meta.dirname, 'histories');

export async function connectTemporal(
  stack: TestStack,
): Promise<{ server: TemporalClient; close: () => Promise<void> }> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  return { server: new TemporalClient({ connection, namespace: stack.namespace }), close: () => connection.close() };
}

export async function saveHistory(
  server: TemporalClient,
  workflowId: string,
  name: string,
  runId?: string,
): Promise<void> {
  const history = await server.workflow.getHandle(workflowId, runId).fetchHistory();
  const bytes = proto.temporal.api.history.v1.History.encode(history).finish();
  mkdirSync(histories, { recursive: true });
  writeFileSync(join(histories, `${name}.bin`), bytes);
  console.log(`${name}: ${history.events?.length ?? 0} events, ${bytes.length} bytes`);
}
