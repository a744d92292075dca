// The Dask answers of agent-api.ts: certificates of a real authority, and orders that agents wait for.
import { environment } from '../builders/environment.ts';
import { createClusterCa, issueLeaf } from '../../platform/pki/cluster-ca.ts';
import type { ClusterCa } from '../../platform/pki/cluster-ca.ts';
import { certificateRequest } from '../../schema/agent.ts';
import type { DaskBundle, Orders, ReportRequest } from '../../schema/agent.ts';

export interface DaskApi {
  bundle: DaskBundle;
  ca: ClusterCa;
  head: string | null;
  orders: Orders;
  /** New orders, in a new version, for the waiting agents. */
  update(change: Partial<Omit<Orders, 'version'>>): void;
  /** Resolves when there is a newer version than this, or after a while. */
  newerThan(seen: number): Promise<void>;
}

export async function createDaskApi(bundle: Partial<DaskBundle> = {}): Promise<DaskApi> {
  const waiting = new Set<() => void>();
  const dask: DaskApi = {
    bundle: {
      ...{
        runtime: { kind: 'environment', ...environment() },
        env: {},
        hostSetupScript: null,
        workerClass: null,
        workerOptions: { nthreads: 1 },
      },
      ...{
        schedulerClass: null,
        schedulerOptions: {},
        aliveEveryMs: 60_000,
        schedulerPort: 0,
        workersPerMachine: 1,
        shareMachine: false,
      },
      ...{ workersPerInstance: 1, extraWorkerOnScheduler: false, gpuIdleAfterMs: null },
      unresponsiveTimeoutMs: 1_200_000,
      jupyterToken: null,
      usage: [],
      ...bundle,
    },
    ca: await createClusterCa({ cluster: 'test', validDays: 1 }),
    head: null,
    orders: { version: 0, schedulerAddress: null, drain: [], adaptive: null, stop: null },
    update: (change) => {
      dask.orders = { ...dask.orders, ...change, version: dask.orders.version + 1 };
      for (const wake of waiting) wake();
    },
    newerThan: (seen) =>
      new Promise((resolve) => {
        if (dask.orders.version > seen) return resolve();
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, heldForMs).unref();
        waiting.add(wake);
      }),
  };
  return dask;
}

/** Handles agents' requests that only Dask clusters have; all others are common to all clusters. */
export async function routeDask(dask: DaskApi, instance: string, path: string, text: string): Promise<object | number> {
  if (path === '/v1/agent/certificate') return certify(dask, instance, text);
  if (!path.startsWith('/v1/agent/orders?seen=')) return 404;
  await dask.newerThan(Number(path.split('=')[1]));
  return ordersFor(dask, instance);
}

/** As the cluster's workflow does. */
export function noteDaskReport(dask: DaskApi, instance: string, { process }: ReportRequest): void {
  if (instance !== dask.head || process?.state !== 'started') return;
  if (process.address !== dask.orders.schedulerAddress) dask.update({ schedulerAddress: process.address });
}

/** Only the head instance gets the orders to drain. */
export const ordersFor = (dask: DaskApi, instance: string): Orders =>
  dask.head === instance ? dask.orders : { ...dask.orders, drain: [] };

async function certify(dask: DaskApi, instance: string, text: string): Promise<object> {
  const { csr: csrPem } = certificateRequest.parse(JSON.parse(text));
  const role = dask.head === instance ? 'scheduler' : 'worker';
  const of = { ca: dask.ca, subject: instance, addresses: ['127.0.0.1'], validDays: 1 };
  const { certificatePem } = await issueLeaf({ ...of, role, csrPem });
  return { certificate: certificatePem, ca: dask.ca.certificatePem };
}

const heldForMs = 5_000;
