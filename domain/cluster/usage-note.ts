// What a cluster writes to its quota reservation.

/** With the newest requests that the cluster knows: usage that knows only older ones does not count. */
export interface Usage {
  number: number;
  instances: number;
  scale: number;
  adapt: number;
}
