// What the state knows of a wait for capacity.

/** There are slots to fill, and a cloud that has nothing for them. */
export interface CapacityWait {
  sinceMs: number;
  tries: number;
  nextTryMs: number;
}
