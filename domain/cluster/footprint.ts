// What a cluster takes of its workspace's limits: the instances that it wants, and those beyond that are not gone yet. The
// workspace is told when it gets smaller, so that it gives back as instances end, and not when they were asked to.
import type { ClusterState } from './state.ts';

/** Slots of the target, whoever is in them, and whatever is still there, or still to come, beyond. */
export function footprintOf({ target, instances, launches }: ClusterState): number {
  const beyond = [...instances.map(({ slot }) => slot), ...launches.flatMap(({ slots }) => slots)];
  return target + beyond.filter((slot) => slot >= target).length;
}

/** With the newest requests that it goes by: of an answer to an older one the workspace can make nothing. */
export interface Footprint {
  number: number;
  instances: number;
  scale: number;
  adapt: number;
}

/** Null while the workspace knows. It counts what it was asked for itself: growing is no news, nor is what nobody has asked for. */
export function footprintToTell(state: ClusterState): Footprint | null {
  const { asked, footprintTold: told, stopRequested, number } = state;
  // One that ends gives back everything at once.
  if (asked === undefined || stopRequested !== null) return null;
  const { scale = 0, adapt = 0 } = asked;
  const instances = footprintOf(state);
  const isKnown = told?.scale === scale && told.adapt === adapt && told.instances <= instances;
  return isKnown ? null : { number, instances, scale, adapt };
}

export function noteFootprintTold(state: ClusterState, footprint: Footprint): void {
  state.footprintTold = footprint;
}
