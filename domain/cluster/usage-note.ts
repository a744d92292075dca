// The usage that a cluster writes to its quota reservation.

/** Contains the numbers of the newest requests that the cluster has applied; usage with older numbers does not count. */
export interface Usage {
  number: number;
  instances: number;
  scale: number;
  adapt: number;
}
