// The reservation of a cluster that changes its size. A cluster that grows reserves before it is signalled; a cluster that shrinks releases when its
// workflow reports the end of its instances. The reservation is never smaller than the cluster's possible target or actual size, whichever process
// crashes in between. Each request has a sequence number of its kind; the cluster follows the newest, so the cluster and its reservation end at the
// same size.
import type { Problem } from '../errors.ts';
import type { Reservation, ShareKind, SharePart } from './state.ts';
import { exceeded, type Quota } from './usage.ts';

type Share = NonNullable<Reservation['share']>;

/** The reservation for the admitted number of instances; the first instance is the head. */
export const firstReservation = (
  { instanceVcpus, headVcpus }: { instanceVcpus: number; headVcpus: number },
  instances: number,
): Pick<Reservation, 'instances' | 'vcpus' | 'workerVcpus'> => ({
  instances,
  vcpus: headVcpus + (instances - 1) * instanceVcpus,
  workerVcpus: instanceVcpus,
});

/**
 * Reserves for another size. `instances` includes the head; for `adapt` it is the maximum, or 0 to turn adaptive scaling off. `seq` is sent with the
 * signal to the cluster, and then passed to `settleShare`. LIMIT_EXCEEDED when the quota is too small.
 */
export function reserveShare(
  before: Reservation,
  { kind, instances }: { kind: ShareKind; instances: number },
  quota: Quota,
): { ok: { reservation: Reservation; seq: number } } | { error: Problem } {
  const { scale, adapt } = shareOf(before);
  const part = kind === 'scale' ? scale : adapt;
  const next: SharePart = { seq: part.seq + 1, wanted: instances, held: Math.max(part.held, instances) };
  const reservation = withShare(before, kind === 'scale' ? { scale: next, adapt } : { scale, adapt: next });
  const more = { instances: reservation.instances - before.instances, vcpus: reservation.vcpus - before.vcpus };
  const over = exceeded(quota, { running: 0, ...more });
  return over === null ? { ok: { reservation, seq: next.seq } } : { error: over };
}

/**
 * The cluster has received request `seq`. From now on its reports count, unless a newer request is under way. Returns the same object when a newer
 * request exists.
 */
export function settleShare(before: Reservation, { kind, seq }: { kind: ShareKind; seq: number }): Reservation {
  const part = before.share?.[kind];
  if (before.share === undefined || part?.seq !== seq) return before;
  // Until a report of the cluster includes this request, it may have all reserved instances. This also holds when adaptive scaling is turned off: the
  // cluster keeps its size.
  const has = knowsNewest(before.has, before.share)
    ? before.has
    : { instances: before.instances, scale: -1, adapt: -1 };
  return withShare({ ...before, has }, { ...before.share, [kind]: { ...part, held: part.wanted } });
}

/**
 * Applies the cluster's report of its instances and of the newest requests that it has applied. Only a report that includes the newest requests
 * counts. Returns the same object when nothing changes.
 */
export function noteUsage(before: Reservation, has: { instances: number; scale: number; adapt: number }): Reservation {
  if (before.share === undefined || !knowsNewest(has, before.share)) return before;
  // A repeated or late report never raises the number.
  const earlier = knowsNewest(before.has, before.share) ? before.has.instances : has.instances;
  return withShare({ ...before, has: { ...has, instances: Math.min(earlier, has.instances) } }, before.share);
}

const knowsNewest = <T extends NonNullable<Reservation['has']>>(
  has: T | undefined,
  { scale, adapt }: Share,
): has is T => has?.scale === scale.seq && has.adapt === adapt.seq;

const shareOf = ({ share, instances }: Reservation): Share =>
  share ?? { scale: { seq: 0, wanted: instances, held: instances }, adapt: { seq: 0, wanted: 0, held: 0 } };

/** The head may have another type than the workers; its vCPUs are part of the first reservation and stay. */
function withShare(before: Reservation, share: Share): Reservation {
  const instances = Math.max(share.scale.held, share.adapt.held, before.has?.instances ?? 0);
  const vcpus = before.vcpus + (instances - before.instances) * before.workerVcpus;
  return { ...before, instances, vcpus, share };
}
