// Operations: Compute Engine's answer to every change, and for weeks the record of an instance's history.
import type { protos } from '@google-cloud/compute';

import { again } from './again.ts';
import { GoogleRefusal } from './refusal.ts';
import type { GcpClients } from './clients.ts';
import { isOwnName, lastPart } from './names.ts';
import type { Owner } from '../provider.ts';

export type Operation = protos.google.cloud.compute.v1.IOperation;

/** The client wraps the operation of a change, which may still be running. */
export function operationIn(answer: object): Operation {
  return 'latestResponse' in answer && typeof answer.latestResponse === 'object' && answer.latestResponse !== null
    ? answer.latestResponse
    : answer;
}

/** Resolves when the operation is done. Google holds each call for up to two minutes. */
export async function waitForRegion(clients: GcpClients, operation: Operation): Promise<Operation> {
  const { project, region } = clients;
  return waitFor(operation, (name) => clients.regionOperations.wait({ project, region, operation: name }));
}

export async function waitForZone(
  clients: GcpClients,
  zone: string,
  operation: Operation,
  signal?: AbortSignal,
): Promise<Operation> {
  const { project } = clients;
  return waitFor(operation, (name) => {
    signal?.throwIfAborted();
    return clients.zoneOperations.wait({ project, zone, operation: name });
  });
}

export async function waitForGlobal(clients: GcpClients, operation: Operation): Promise<Operation> {
  const { project } = clients;
  return waitFor(operation, (name) => clients.globalOperations.wait({ project, operation: name }));
}

async function waitFor(
  operation: Operation,
  wait: (name: string) => Promise<[Operation, ...unknown[]]>,
): Promise<Operation> {
  let current = operation;
  while (!isDone(current)) [current] = await again(() => wait(operation.name ?? ''));
  return current;
}

/** The first error of an operation; null when it succeeded or is not done yet. */
export function errorOf({ error }: Operation): { code: string; message: string } | null {
  const [first] = error?.errors ?? [];
  return first === undefined ? null : { code: first.code ?? '', message: first.message ?? '' };
}

/** @throws GoogleRefusal */
export function requireSuccess(operation: Operation): void {
  const error = errorOf(operation);
  if (error === null) return;
  throw new GoogleRefusal(operation.httpErrorStatusCode ?? 500, error.code, error.message);
}

/** The inserts of a bulkInsert, by instance name. */
export async function insertsOf(clients: GcpClients, groupId: string): Promise<Map<string, Operation>> {
  const inserts = new Map<string, Operation>();
  for (const operation of await list(clients, `(operationType = "insert") AND (operationGroupId = "${groupId}")`))
    inserts.set(lastPart(operation.targetLink), operation);
  return inserts;
}

export interface InstanceHistory {
  zone: string;
  insertedAtMs: number;
  /** The type of the first operation that ended the instance; null when none did. */
  endedBy: string | null;
}

/** As many names as fit into the URL of a request. */
const namesPerCall = 60;

/** The operations' record of these instances of the owner; omits instances that were never created. */
export async function historyOf(
  clients: GcpClients,
  owner: Owner,
  names: readonly string[],
): Promise<Map<string, InstanceHistory>> {
  const own = names.filter((name) => isOwnName(owner, name));
  const histories = new Map<string, InstanceHistory>();
  for (let from = 0; from < own.length; from += namesPerCall) {
    const expression = own.slice(from, from + namesPerCall).join('|');
    const found = await list(clients, `targetLink eq ".*/instances/(${expression})"`);
    const inOrder = found.toSorted((a, b) => timeOf(a) - timeOf(b));
    for (const operation of inOrder) {
      const name = lastPart(operation.targetLink);
      const type = operation.operationType ?? '';
      const known = histories.get(name);
      if (type === 'insert' && errorOf(operation) === null) {
        histories.set(name, { zone: lastPart(operation.zone), insertedAtMs: timeOf(operation), endedBy: null });
      } else if (known !== undefined && known.endedBy === null && endings.has(type)) {
        known.endedBy = type;
      }
    }
  }
  return histories;
}

const endings = new Set([
  'delete',
  'stop',
  'suspend',
  'compute.instances.preempted',
  'compute.instances.hostError',
  'compute.instances.guestTerminate',
  'compute.instances.terminateOnHostMaintenance',
  'compute.instances.terminateOnMaxRunDuration',
]);

/** Operations of a caller, or of Google's spot preemption. */
const orders = new Set(['delete', 'stop', 'suspend', 'compute.instances.preempted']);
export const isOrder = (type: string): boolean => orders.has(type);

/** The message for an instance that this operation ended. */
export const whyEnded = (type: string): string =>
  `Compute Engine says ${type}${type === 'compute.instances.guestTerminate' ? `. ${poweredOff}` : ''}`;

const poweredOff = 'The machine powered itself off, as it does when its agent cannot start or gives up';

const list = (clients: GcpClients, filter: string): Promise<Operation[]> => again(() => listOnce(clients, filter));

async function listOnce(clients: GcpClients, filter: string): Promise<Operation[]> {
  const found: Operation[] = [];
  const { project } = clients;
  for await (const [, { operations }] of clients.globalOperations.aggregatedListAsync(
    { project, filter, maxResults: 500 },
    { autoPaginate: false },
  ))
    found.push(...(operations ?? []));
  return found;
}

const timeOf = ({ insertTime }: Operation): number => Date.parse(insertTime ?? '') || 0;
const isDone = ({ status }: Operation): boolean => status === 'DONE';
