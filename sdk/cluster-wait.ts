// Waiting for a cluster: for its scheduler, for some of its workers, for its end. Waiting changes nothing.
import type { Cluster } from '../schema/clusters.ts';
import { ClusterFailedError, ClusterTimeoutError } from './cluster-errors.ts';
import type { PollOptions } from './poll.ts';
import { poll } from './poll.ts';

/**
 * How many workers to wait for, as Dask and Coiled count: `true` all, `false` none, a whole number that many, a fraction
 * between 0 and 1 that part of all, rounded up.
 */
export type WorkerAmount = boolean | number;

export interface ClusterWaitOptions extends PollOptions<Cluster> {
  /**
   * Throws ClusterTimeoutError after this many milliseconds. Unless given, after ten minutes in which the cluster does not wait
   * for capacity: that wait has an end of its own.
   */
  timeoutMs?: number;
}

export interface WorkersWaitOptions extends ClusterWaitOptions {
  /** A count of workers that was just asked for: a view that does not know of it yet is looked past, for 10 s at most. */
  asked?: { workers: number; atMs: number } | undefined;
}

export type LookAtCluster = (signal: AbortSignal | undefined) => Promise<Cluster>;

export const defaultAmount = 0.3;
const defaultTimeoutMs = 10 * 60_000;
const askedGraceMs = 10_000;

export async function waitForWorkers(
  look: LookAtCluster,
  amount: WorkerAmount,
  { asked, ...options }: WorkersWaitOptions,
): Promise<Cluster> {
  checkAmount(amount);
  return waitFor(look, 'workers', options, (cluster) => {
    if (amount === false || amount === 0) return true;
    checkAlive(cluster);
    const { dask } = cluster;
    if (dask === null) return false;
    const isNews =
      asked === undefined || dask.workersWanted === asked.workers || Date.now() > asked.atMs + askedGraceMs;
    const wanted = isNews ? dask.workersWanted : asked.workers;
    const needed = countOf(amount, wanted);
    if (dask.workersStarted >= needed) return true;
    // More may come: of an adaptive cluster as work comes, of any other until every worker has started or failed.
    if (!isNews || cluster.status !== 'ready' || (dask.adaptive !== null && dask.adaptive.maximum >= needed))
      return false;
    if (needed > wanted) {
      const text = `cluster ${cluster.number} has ${wanted} workers, so that ${needed} never start: scale it first`;
      throw new ClusterFailedError(cluster, 'NOT_ENOUGH_WORKERS', text);
    }
    if (dask.workersStarted > 0) return true;
    const text = `cluster ${cluster.number} has no worker: all ${wanted} failed to start`;
    throw new ClusterFailedError(cluster, 'NO_WORKERS', text);
  });
}

/** From then on it has credentials, and clients can connect. */
export function waitForScheduler(look: LookAtCluster, options: ClusterWaitOptions): Promise<Cluster> {
  return waitFor(look, 'scheduler', options, (cluster) => {
    checkAlive(cluster);
    return typeof cluster.dask?.schedulerAddress === 'string';
  });
}

export function waitForEnd(look: LookAtCluster, options: ClusterWaitOptions): Promise<Cluster> {
  return waitFor(look, 'end', options, hasEnded);
}

export function hasEnded({ status }: Cluster): boolean {
  return status === 'stopped' || status === 'error';
}

/** Of `wanted` workers; exported for those who show progress. */
export function countOf(amount: WorkerAmount, wanted: number): number {
  if (typeof amount === 'boolean') return amount ? wanted : 0;
  return Number.isInteger(amount) ? amount : Math.ceil(amount * wanted);
}

/** A fraction of 1 or more is as much a mistake as half a worker. */
function checkAmount(amount: WorkerAmount): void {
  if (typeof amount === 'boolean' || (amount >= 0 && (amount < 1 || Number.isSafeInteger(amount)))) return;
  throw new RangeError(`wait for true, false, a whole number of workers, or a fraction between 0 and 1, not ${amount}`);
}

function checkAlive(cluster: Cluster): void {
  const { number, job, status, reason } = cluster;
  if (job !== null) {
    throw new ClusterFailedError(cluster, 'NOT_DASK', `cluster ${number} runs the tasks of job ${job}: it has no Dask`);
  }
  if (status !== 'stopping' && !hasEnded(cluster)) return;
  const what = status === 'stopping' ? 'is stopping' : 'has ended';
  const why = reason === null ? '' : `: ${reason.text}`;
  throw new ClusterFailedError(cluster, reason?.code ?? 'STOPPED', `cluster ${number} ${what}${why}`);
}

async function waitFor(
  look: LookAtCluster,
  what: 'workers' | 'scheduler' | 'end',
  { timeoutMs: givenMs, signal, ...options }: ClusterWaitOptions,
  isEnough: (cluster: Cluster) => boolean,
): Promise<Cluster> {
  const timeoutMs = givenMs ?? defaultTimeoutMs;
  const timeout = new AbortController();
  let last: Cluster | null = null;
  const over = (): void => {
    const state = last === null ? 'the API did not answer' : `it is ${last.status}, with ${startedOf(last)}`;
    timeout.abort(new ClusterTimeoutError(last, `waited ${timeoutMs / 1_000} s for the cluster's ${what}: ${state}`));
  };
  // The longest time that a timer can hold is 24 days.
  const startTimer = () => (timeoutMs < 2 ** 31 ? setTimeout(over, timeoutMs) : undefined);
  let timer = startTimer();
  const both = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  const remember = (cluster: Cluster): boolean => {
    last = cluster;
    if (givenMs === undefined && cluster.waitingForCapacity) {
      // Not `refresh`, which only the timers of Node have.
      clearTimeout(timer);
      timer = startTimer();
    }
    return isEnough(cluster);
  };
  try {
    return await poll(look, remember, { ...options, signal: both });
  } finally {
    clearTimeout(timer);
  }
}

function startedOf({ dask }: Cluster): string {
  return dask === null ? 'nothing started' : `${dask.workersStarted} of ${dask.workersWanted} workers`;
}
