// A cluster that grows takes more of its workspace's limits before it is told to, and one that shrinks gives back as its
// instances end, by its own word: its share is never less than what the cluster may have been asked for, or still has, whoever
// dies in between. Every request
// has a number of its kind; the cluster follows the newest alone, so that it and its share end with the same one.
import type { Problem } from '../errors.ts';
import type { Holder, SharePart, WorkspaceState } from './state.ts';
import { exceeded } from './use.ts';

export type ShareKind = 'scale' | 'adapt';

export interface ReserveShare {
  number: number;
  kind: ShareKind;
  /** Instances, the head instance included; for `adapt` the most there may be, or 0 to turn it off. */
  instances: number;
}

/** What so many instances, of which the first is the head, count for when they are admitted. */
export const firstShare = (
  { instanceVcpus, headVcpus }: { instanceVcpus: number; headVcpus: number },
  instances: number,
): Pick<Holder, 'instances' | 'vcpus' | 'workerVcpus'> => ({
  instances,
  vcpus: headVcpus + (instances - 1) * instanceVcpus,
  workerVcpus: instanceVcpus,
});

/** Takes what the request may need. The answer's number goes with the request to the cluster, and then to `settleShare`. */
export function reserveShare(
  state: WorkspaceState,
  { number, kind, instances }: ReserveShare,
): { ok: { seq: number } } | { error: Problem } {
  const holder = state.holders.find((each) => each.number === number);
  if (holder === undefined) return { error: { code: 'NOT_FOUND', message: `There is no open cluster ${number}.` } };
  const { scale, adapt } = shareOf(holder);
  const part = kind === 'scale' ? scale : adapt;
  const next: SharePart = { seq: part.seq + 1, wanted: instances, held: Math.max(part.held, instances) };
  const share = kind === 'scale' ? { scale: next, adapt } : { scale, adapt: next };
  const then = Math.max(most(share.scale, share.adapt), holder.has?.instances ?? 0);
  const more = { instances: then - holder.instances, vcpus: vcpusOf(holder, then) - holder.vcpus };
  const over = exceeded(state, { user: holder.user, running: 0, ...more });
  if (over !== null) return { error: over };
  take(holder, share);
  return { ok: { seq: next.seq } };
}

/** The cluster has been told: from now on it says what it still has, unless a newer request is on its way. */
export function settleShare(
  state: WorkspaceState,
  { number, kind, seq }: { number: number; kind: ShareKind; seq: number },
): { ok: { seq: number } } {
  const holder = state.holders.find((each) => each.number === number);
  const part = holder?.share?.[kind];
  if (holder?.share === undefined || part?.seq !== seq) return { ok: { seq } };
  // Until it has spoken, having heard of this, it may have all that it might. That holds for adaptive scaling that is
  // turned off, too: the cluster stays as large as it was then.
  if (!speaksOf(holder.has, holder.share)) holder.has = { instances: holder.instances, scale: -1, adapt: -1 };
  take(holder, { ...holder.share, [kind]: { ...part, held: part.wanted } });
  return { ok: { seq } };
}

/** The cluster says what it has. Only one that knows of the newest requests knows what it will have. */
export function noteFootprint(
  state: WorkspaceState,
  { number, ...has }: { number: number; instances: number; scale: number; adapt: number },
): void {
  const holder = state.holders.find((each) => each.number === number);
  if (holder?.share === undefined || !speaksOf(has, holder.share)) return;
  // What is said twice, or late, is never more than what was said before.
  const before = speaksOf(holder.has, holder.share) ? holder.has.instances : has.instances;
  holder.has = { ...has, instances: Math.min(before, has.instances) };
  take(holder, holder.share);
}

const speaksOf = <T extends NonNullable<Holder['has']>>(
  has: T | undefined,
  { scale, adapt }: NonNullable<Holder['share']>,
): has is T => has?.scale === scale.seq && has.adapt === adapt.seq;

const shareOf = (holder: Holder): { scale: SharePart; adapt: SharePart } =>
  holder.share ?? {
    scale: { seq: 0, wanted: holder.instances, held: holder.instances },
    adapt: { seq: 0, wanted: 0, held: 0 },
  };

const most = (scale: SharePart, adapt: SharePart): number => Math.max(scale.held, adapt.held);

/**
 * Of so many of its instances. One of them is always the head, which may be of another type than the workers and is counted
 * with the first ones that were admitted.
 */
function vcpusOf({ vcpus, instances, workerVcpus }: Holder, then: number): number {
  if (workerVcpus !== undefined) return vcpus + (then - instances) * workerVcpus;
  return instances === 0 ? 0 : Math.round((then * vcpus) / instances);
}

function take(holder: Holder, share: { scale: SharePart; adapt: SharePart }): void {
  const then = Math.max(most(share.scale, share.adapt), holder.has?.instances ?? 0);
  holder.vcpus = vcpusOf(holder, then);
  holder.instances = then;
  holder.share = share;
}
