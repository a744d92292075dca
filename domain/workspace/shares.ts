// A cluster that grows takes more of its workspace's limits before it is told to, and one that shrinks gives back after it
// was told: its share is never less than what the cluster may have been asked for, whoever dies in between. Every request
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
  const more = most(share.scale, share.adapt) - holder.instances;
  const vcpus = more * vcpusEach(holder);
  const over = exceeded(state, { user: holder.user, running: 0, instances: more, vcpus });
  if (over !== null) return { error: over };
  take(holder, share);
  return { ok: { seq: next.seq } };
}

/** The cluster has been told. Gives back what it no longer wants, unless a newer request is on its way. */
export function settleShare(
  state: WorkspaceState,
  { number, kind, seq }: { number: number; kind: ShareKind; seq: number },
): { ok: { seq: number } } {
  const holder = state.holders.find((each) => each.number === number);
  const part = holder?.share?.[kind];
  if (holder?.share === undefined || part?.seq !== seq) return { ok: { seq } };
  const { scale, adapt } = holder.share;
  const settled: SharePart = { ...part, held: part.wanted };
  if (kind === 'scale') take(holder, { scale: settled, adapt });
  // Where adaptive scaling has left it, it stays when that is turned off, until somebody scales it.
  else if (settled.wanted > 0) take(holder, { scale, adapt: settled });
  else take(holder, { scale: { ...scale, wanted: most(scale, adapt), held: most(scale, adapt) }, adapt: settled });
  return { ok: { seq } };
}

const shareOf = (holder: Holder): { scale: SharePart; adapt: SharePart } =>
  holder.share ?? {
    scale: { seq: 0, wanted: holder.instances, held: holder.instances },
    adapt: { seq: 0, wanted: 0, held: 0 },
  };

const most = (scale: SharePart, adapt: SharePart): number => Math.max(scale.held, adapt.held);

/** A holder has at least its head instance. */
const vcpusEach = ({ vcpus, instances }: Holder): number => (instances === 0 ? 0 : vcpus / instances);

function take(holder: Holder, share: { scale: SharePart; adapt: SharePart }): void {
  const each = vcpusEach(holder);
  holder.share = share;
  holder.instances = most(share.scale, share.adapt);
  holder.vcpus = Math.round(holder.instances * each);
}
