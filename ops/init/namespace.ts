// Prepares the Temporal namespace, on the embedded or an external server: retention and search attributes. Safe to repeat: it
// keeps existing settings, and reports its changes.
import type { Connection } from '@temporalio/client';
import { msNumberToTs } from '@temporalio/common/lib/time.js';

import { RopewalkError } from '../../domain/errors.ts';

const indexedValueKeyword = 2;
/** Milliseconds: each part of the server reads new namespaces and attributes after its own delay. */
const settleWithinMs = 20_000;

export interface NamespaceSettings {
  retentionDays: number;
  searchAttributes: string[];
}

/** Returns its changes and failures, as sentences; empty when everything existed. */
export async function prepareNamespace(
  connection: Connection,
  namespace: string,
  settings: NamespaceSettings,
): Promise<string[]> {
  return [
    ...(await registerNamespace(connection, namespace, settings.retentionDays)),
    ...(await addSearchAttributes(connection, namespace, settings.searchAttributes)),
  ];
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

async function registerNamespace(connection: Connection, namespace: string, retentionDays: number): Promise<string[]> {
  const found = await retentionOf(connection, namespace);
  if (found !== null && (found === 'unknown' || found >= retentionDays)) return [];
  if (found !== null) {
    return [
      `left the retention of namespace ${namespace} at ${found} days, which is less than ${retentionDays}: ended workflows leave the Temporal UI sooner`,
    ];
  }
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Ropewalk: clusters and batch jobs',
      workflowExecutionRetentionPeriod: msNumberToTs(retentionDays * dayMs),
    });
  } catch (error) {
    if (isNotAllowed(error)) throw mayNotCreate(namespace, retentionDays, error);
    // Another stack on the same server may have been faster.
    if (grpcCode(error) !== alreadyExists) throw error;
  }
  await until(async () => (await retentionOf(connection, namespace)) !== null, `namespace ${namespace} did not appear`);
  return [`created namespace ${namespace}, which keeps ended workflows for ${retentionDays} days`];
}

/** In days; null when the namespace does not exist, `unknown` when the server does not report it. */
async function retentionOf(connection: Connection, namespace: string): Promise<number | 'unknown' | null> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    return seconds === 0 ? 'unknown' : (seconds * 1_000) / dayMs;
  } catch (error) {
    if (grpcCode(error) === notFound) return null;
    throw error;
  }
}

async function addSearchAttributes(connection: Connection, namespace: string, names: string[]): Promise<string[]> {
  try {
    const isVisible = async (): Promise<boolean> => (await attributesOf(connection, namespace)) !== null;
    await until(isVisible, `namespace ${namespace} did not become usable`);
    const known = (await attributesOf(connection, namespace)) ?? [];
    const absent = names.filter((name) => !known.includes(name));
    if (absent.length === 0) return [];
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(absent.map((name) => [name, indexedValueKeyword])),
    });
    const areThere = async (): Promise<boolean> => {
      const now = (await attributesOf(connection, namespace)) ?? [];
      return absent.every((name) => now.includes(name));
    };
    await until(areThere, `search attributes ${absent.join(', ')} did not appear`);
    return [`added the search attributes ${absent.join(', ')} (Keyword)`];
  } catch (error) {
    if (isNotAllowed(error)) throw mayNotAdd(namespace, names, error);
    throw error;
  }
}

/** null until this part of the server has read a new namespace. */
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

const dayMs = 86_400_000;
const notFound = 5;
const alreadyExists = 6;
const permissionDenied = 7;
const unimplemented = 12;
const grpcCode = (error: unknown): number | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;

/** Temporal Cloud, and servers with an authorizer, refuse these calls. */
const isNotAllowed = (error: unknown): boolean => [permissionDenied, unimplemented].includes(grpcCode(error) ?? 0);

const mayNotCreate = (namespace: string, days: number, cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'FORBIDDEN',
      message: `there is no namespace ${namespace}, and this Temporal server does not let these credentials create one`,
      hint: `Have it created with a retention of ${days} days (on Temporal Cloud: in its UI, or with "tcld namespace create"), then run this again.`,
    },
    { cause },
  );

const mayNotAdd = (namespace: string, names: string[], cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'FORBIDDEN',
      message: `this Temporal server does not let these credentials change the search attributes of namespace ${namespace}`,
      hint: `Have ${names.join(', ')} added as Keyword (on Temporal Cloud: in its UI, or with "tcld namespace search-attributes add"), then run this again with --no-search-attributes.`,
    },
    { cause },
  );
