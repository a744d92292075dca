// Waits for a cluster's scheduler, for some of its workers, or for its end. Waiting does not change the cluster.
import type { Cluster } from '../schema/clusters.ts';
import { ClusterFailedError, ClusterTimeoutError } from './cluster-errors.ts';
import type { PollOptions } from './poll.ts';
import { poll } from './poll.ts';

/**
 * The number of workers to wait for, as in Dask and Coiled: `true` is all, `false` is none, a whole number is a count, and a
 * fraction between 0 and 1 is that share of all workers, rounded up.
 */
export type WorkerAmount = boolean | number;

export interface ClusterWaitOptions extends PollOptions<Cluster> {
  /**
   * Throws ClusterTimeoutError after this many milliseconds. By default after ten minutes, not counting the time in which the
   * cluster waits for an approval or for capacity, which have separate limits.
   */
  timeoutMs?: number;
}

export interface WorkersWaitOptions extends ClusterWaitOptions {
  /** A number of workers that was just requested. Views that do not show it yet are ignored, for at most 10 s. */
  requested?: { workers: number; atMs: number } | undefined;
}

export type ReadCluster = (signal: AbortSignal | undefined) => Promise<Cluster>;

export const defaultAmount = 0.3;
export const defaultTimeoutMs = 10 * 60_000;
const maxViewLagMs = 10_000;

export async function waitForWorkers(
  read: ReadCluster,
  amount: WorkerAmount,
  { requested, ...options }: WorkersWaitOptions,
): Promise<Cluster> {
  checkAmount(amount);
  return waitFor(read, 'workers', options, (cluster) => {
    if (amount === false || amount === 0) return true;
    checkAlive(cluster);
    const { dask } = cluster;
    if (dask === null) return false;
    const isCurrent =
      requested === undefined || dask.workersWanted === requested.workers || Date.now() > requested.atMs + maxViewLagMs;
    const wanted = isCurrent ? dask.workersWanted : requested.workers;
    const needed = countOf(amount, wanted);
    if (dask.workersStarted >= needed) return true;
    // More workers can start: in an adaptive cluster when its load grows, in others until every worker has started or failed.
    if (!isCurrent || cluster.status !== 'ready' || (dask.adaptive !== null && dask.adaptive.maximum >= needed))
      return false;
    if (needed > wanted) {
      const text = `cluster ${cluster.number} has ${wanted} workers, fewer than ${needed}: scale it first`;
      throw new ClusterFailedError(cluster, 'NOT_ENOUGH_WORKERS', text);
    }
    if (dask.workersStarted > 0) return true;
    const text = `cluster ${cluster.number} has no worker: all ${wanted} failed to start`;
    throw new ClusterFailedError(cluster, 'NO_WORKERS', text);
  });
}

/** Once the scheduler has started, the cluster has credentials and clients can connect. */
export function waitForScheduler(read: ReadCluster, options: ClusterWaitOptions): Promise<Cluster> {
  return waitFor(read, 'scheduler', options, (cluster) => {
    checkAlive(cluster);
    return typeof cluster.dask?.schedulerAddress === 'string';
  });
}

export function waitForEnd(read: ReadCluster, options: ClusterWaitOptions): Promise<Cluster> {
  return waitFor(read, 'end', options, hasEnded);
}

export function hasEnded({ status }: Cluster): boolean {
  return status === 'stopped' || status === 'error';
}

/** It cannot be used any more. */
export function isEnding(cluster: Cluster): boolean {
  return cluster.status === 'stopping' || hasEnded(cluster);
}

/** The number of workers that `amount` means, of `wanted` workers. */
export function countOf(amount: WorkerAmount, wanted: number): number {
  if (typeof amount === 'boolean') return amount ? wanted : 0;
  return Number.isInteger(amount) ? amount : Math.ceil(amount * wanted);
}

/** Throws RangeError for a negative amount, and for a fraction above 1. */
function checkAmount(amount: WorkerAmount): void {
  if (typeof amount === 'boolean' || (amount >= 0 && (amount < 1 || Number.isSafeInteger(amount)))) return;
  throw new RangeError(`wait for true, false, a whole number of workers, or a fraction between 0 and 1, not ${amount}`);
}

function checkAlive(cluster: Cluster): void {
  const { number, job, status, reason } = cluster;
  if (job !== null) {
    throw new ClusterFailedError(
      cluster,
      'NOT_DASK',
      `cluster ${number} runs the tasks of job ${job}: it has no Dask scheduler`,
    );
  }
  if (!isEnding(cluster)) return;
  const what = status === 'stopping' ? 'is stopping' : 'has ended';
  const why = reason === null ? '' : `: ${reason.text}`;
  throw new ClusterFailedError(cluster, reason?.code ?? 'STOPPED', `cluster ${number} ${what}${why}`);
}

async function waitFor(
  read: ReadCluster,
  what: 'workers' | 'scheduler' | 'end',
  { timeoutMs: givenMs, signal, ...options }: ClusterWaitOptions,
  isEnough: (cluster: Cluster) => boolean,
): Promise<Cluster> {
  const timeoutMs = givenMs ?? defaultTimeoutMs;
  const timeout = new AbortController();
  let last: Cluster | null = null;
  const onTimeout = (): void => {
    const state = last === null ? 'the API did not answer' : `it is ${last.status}, with ${startedOf(last)}`;
    timeout.abort(new ClusterTimeoutError(last, `waited ${timeoutMs / 1_000} s for the cluster's ${what}: ${state}`));
  };
  // setTimeout takes at most 24 days.
  const startTimer = () => (timeoutMs < 2 ** 31 ? setTimeout(onTimeout, timeoutMs) : undefined);
  let timer = startTimer();
  const both = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  const remember = (cluster: Cluster): boolean => {
    last = cluster;
    if (givenMs === undefined && (cluster.waitingForCapacity || cluster.status === 'waiting')) {
      // Not `refresh`, which only Node's timers have.
      clearTimeout(timer);
      timer = startTimer();
    }
    return isEnough(cluster);
  };
  try {
    return await poll(read, remember, { ...options, signal: both });
  } finally {
    clearTimeout(timer);
  }
}

function startedOf({ dask }: Cluster): string {
  return dask === null ? 'nothing started' : `${dask.workersStarted} of ${dask.workersWanted} workers`;
}
