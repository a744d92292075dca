// The leases of a job, sorted by number, so a lookup is a binary search. An index outside the state holds each instance's leases, so an exchange is
// compared only with the leases of its own instance. Only this file adds and removes leases.
import { lastWhere } from './array-layers.ts';
import type { JobState, Lease } from './state.ts';

type Leases = Pick<JobState, 'leases'>;

/** Returns the lease with this number if this instance holds it. */
export function findLease({ leases }: Leases, instance: string, number: number): Lease | undefined {
  const found = leases[placeOf(leases, number)];
  return found?.lease === number && found.instance === instance ? found : undefined;
}

/** The leases of an instance, sorted by number. */
export const leasesOf = ({ leases }: Leases, instance: string): readonly Lease[] =>
  byInstance(leases).get(instance) ?? [];

/** The number of instances that hold a lease. */
export const countLeasedInstances = ({ leases }: Leases): number => byInstance(leases).size;

/** Adds a lease, whose number must be the highest. */
export function addLease({ leases }: Leases, lease: Lease): void {
  const own = byInstance(leases);
  leases.push(lease);
  own.set(lease.instance, [...(own.get(lease.instance) ?? []), lease]);
}

/** Returns false when the lease was removed before. */
export function removeLease({ leases }: Leases, lease: Lease): boolean {
  const at = placeOf(leases, lease.lease);
  if (leases[at]?.lease !== lease.lease) return false;
  const own = byInstance(leases);
  leases.splice(at, 1);
  const others = (own.get(lease.instance) ?? []).filter((held) => held.lease !== lease.lease);
  if (others.length === 0) own.delete(lease.instance);
  else own.set(lease.instance, others);
  return true;
}

const placeOf = (leases: readonly Lease[], number: number): number =>
  lastWhere(leases.length, (at) => (leases[at]?.lease ?? 0) <= number);

/** Derived from the state: rebuilt after continue-as-new, and not carried. */
function byInstance(leases: readonly Lease[]): Map<string, readonly Lease[]> {
  const known = indexes.get(leases);
  if (known !== undefined) return known;
  const made = new Map<string, readonly Lease[]>(Map.groupBy(leases, ({ instance }) => instance));
  indexes.set(leases, made);
  return made;
}

const indexes = new WeakMap<readonly Lease[], Map<string, readonly Lease[]>>();
