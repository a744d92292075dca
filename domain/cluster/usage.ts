// A cluster's usage of its quota reservation: the target number of instances, and instances beyond it that have not ended. The reservation shrinks as
// instances end, not when a smaller number is requested.
import type { ClusterState } from './state.ts';
import type { Usage } from './usage-note.ts';

/** Counts the slots of the target, and instances beyond it that exist or are being launched. */
export function usageOf({ target, instances, launches }: ClusterState): number {
  const beyond = [...instances.map(({ slot }) => slot), ...launches.flatMap(({ slots }) => slots)];
  return target + beyond.filter((slot) => slot >= target).length;
}

/**
 * Returns the usage that the reservation does not contain yet, or null. Growth was reserved before the cluster was signalled. A cluster that was
 * never resized uses its admitted size, and one that ends releases everything at once.
 */
export function usageToNote(state: ClusterState): Usage | null {
  const { asked, usageNoted: noted, stopRequested, number } = state;
  if (asked === undefined || stopRequested !== null) return null;
  const { scale = 0, adapt = 0 } = asked;
  const instances = usageOf(state);
  const isKnown = noted?.scale === scale && noted.adapt === adapt && noted.instances <= instances;
  return isKnown ? null : { number, instances, scale, adapt };
}

export function usageWasNoted(state: ClusterState, usage: Usage): void {
  state.usageNoted = usage;
}
