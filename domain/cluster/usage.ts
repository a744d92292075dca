// What a cluster uses of its quota reservation: the instances that it wants, and those beyond that have not ended yet. The
// reservation shrinks as instances end, and not when a smaller number was requested.
import type { ClusterState } from './state.ts';
import type { Usage } from './usage-note.ts';

/** Slots of the target, and instances beyond it that exist or are being launched. */
export function usageOf({ target, instances, launches }: ClusterState): number {
  const beyond = [...instances.map(({ slot }) => slot), ...launches.flatMap(({ slots }) => slots)];
  return target + beyond.filter((slot) => slot >= target).length;
}

/**
 * What the reservation does not know yet, or null. Growth is known: it was reserved before the cluster was signalled. A cluster
 * that was never asked for another size uses what it was admitted with, and one that ends releases everything at once.
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
