// The limits of a workspace, and the reservation of each open job or cluster.

export interface WorkspaceLimits {
  /** Open jobs and clusters. */
  running: number;
  instances: number;
  vcpus: number;
}

/** How a size was requested: as a number of instances, or as the maximum of adaptive scaling. */
export type ShareKind = 'scale' | 'adapt';

/** A request for another size of an open cluster; `instances` includes the head. */
export interface ShareRequest {
  number: number;
  kind: ShareKind;
  instances: number;
}

export interface SharePart {
  /** Number of the newest request. */
  seq: number;
  wanted: number;
  /** At least the cluster's possible target; it falls to `wanted` when the newest request has arrived. */
  held: number;
}

/** One row for each open job or cluster. */
export interface Reservation {
  number: number;
  user: string;
  instances: number;
  /** vCPUs of all instances. */
  vcpus: number;
  /** vCPUs of each instance except the head. */
  workerVcpus: number;
  /** Set after the first resize request: `instances` is the greater of the two held numbers. */
  share?: { scale: SharePart; adapt: SharePart };
  /** Instances that it may still have, regardless of the last request, and the numbers of the requests that this report includes. */
  has?: { instances: number; scale: number; adapt: number };
}
