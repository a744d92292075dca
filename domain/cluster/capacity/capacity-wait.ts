// The state of a wait for capacity.

/** There are slots to fill, and the cloud has no capacity for them. */
export interface CapacityWait {
  sinceMs: number;
  tries: number;
  nextTryMs: number;
}
