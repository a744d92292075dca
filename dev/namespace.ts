// Prepares the Temporal namespace, on the embedded server or on one that runs elsewhere: retention and search attributes.
// Safe to repeat, and it changes nothing that is there already.
import type { Connection } from '@temporalio/client';
import { msNumberToTs } from '@temporalio/common/lib/time.js';

import type { DevConfig } from './config.ts';

const indexedValueKeyword = 2;
/** A new namespace and new attributes are not at once seen by every part of the server. */
const settleWithinMs = 20_000;

export async function prepareNamespace(
  connection: Connection,
  namespace: string,
  config: Pick<DevConfig, 'namespace' | 'searchAttributes'>,
): Promise<void> {
  await registerNamespace(connection, namespace, config.namespace.retentionDays);
  await addSearchAttributes(connection, namespace, config.searchAttributes);
}

/** True when the server at this connection answers. */
export async function isServing(connection: Connection): Promise<boolean> {
  return connection
    .withDeadline(Date.now() + 2_000, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    );
}

async function registerNamespace(connection: Connection, namespace: string, retentionDays: number): Promise<void> {
  if (await namespaceExists(connection, namespace)) return;
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Ropewalk: clusters and batch jobs',
      workflowExecutionRetentionPeriod: msNumberToTs(retentionDays * 86_400_000),
    });
  } catch (error) {
    // Another stack on the same server may have been faster.
    if (grpcCode(error) !== alreadyExists) throw error;
  }
  await until(() => namespaceExists(connection, namespace), `namespace ${namespace} did not appear`);
}

async function namespaceExists(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  } catch (error) {
    if (grpcCode(error) === notFound) return false;
    throw error;
  }
}

async function addSearchAttributes(connection: Connection, namespace: string, names: string[]): Promise<void> {
  const isVisible = async (): Promise<boolean> => (await attributesOf(connection, namespace)) !== null;
  await until(isVisible, `namespace ${namespace} did not become usable`);
  const known = (await attributesOf(connection, namespace)) ?? [];
  const absent = names.filter((name) => !known.includes(name));
  if (absent.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(absent.map((name) => [name, indexedValueKeyword])),
  });
  const areThere = async (): Promise<boolean> => {
    const now = (await attributesOf(connection, namespace)) ?? [];
    return absent.every((name) => now.includes(name));
  };
  await until(areThere, `search attributes ${absent.join(', ')} did not appear`);
}

/** null while this part of the server has not yet seen a new namespace. */
async function attributesOf(connection: Connection, namespace: string): Promise<string[] | null> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.keys(customAttributes ?? {});
  } catch (error) {
    if (grpcCode(error) === notFound) return null;
    throw error;
  }
}

async function until(condition: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = Date.now() + settleWithinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${otherwise} within ${settleWithinMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const notFound = 5;
const alreadyExists = 6;
const grpcCode = (error: unknown): number | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
