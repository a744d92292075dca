// What a workspace may use, and what each open job or cluster has reserved of it.

export interface WorkspaceLimits {
  /** Open jobs and clusters. */
  running: number;
  instances: number;
  vcpus: number;
}

/** The way in which a size is asked for: a number of instances, or the maximum of adaptive scaling. */
export type ShareKind = 'scale' | 'adapt';

/** Another size of an open cluster; `instances` includes the head. */
export interface ShareRequest {
  number: number;
  kind: ShareKind;
  instances: number;
}

export interface SharePart {
  /** Number of the request that counts: the newest. */
  seq: number;
  wanted: number;
  /** Never less than what the cluster may have been asked for: it falls to `wanted` when the newest request has arrived. */
  held: number;
}

/** One row for each open job or cluster. */
export interface Reservation {
  number: number;
  user: string;
  instances: number;
  /** Of all of them. */
  vcpus: number;
  /** Of each instance that is not its head. */
  workerVcpus: number;
  /** Set once another size was asked for: `instances` is the greater of the two held numbers. */
  share?: { scale: SharePart; adapt: SharePart };
  /** Instances that it may still have, whatever was asked for last, and the numbers of the requests that it knew then. */
  has?: { instances: number; scale: number; adapt: number };
}
