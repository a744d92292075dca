// Decisions that a new run of a cluster's workflow takes over: the previous run began them, and their activities ended with it.
import { orderFor, type Decision } from './plan.ts';
import type { ClusterState, EndingInstance } from './state.ts';

/**
 * True for a decision that may be abandoned in flight and repeated: a provider accepts a repeated termination, and a launch under the same token
 * finds its earlier instances. A cloud may never terminate or describe one instance, and may leave the outcome of a launch unknown for long.
 */
export const isRepeatable = ({ kind }: Decision): boolean => repeatable.includes(kind);

const repeatable: Decision['kind'][] = ['terminate', 'inspect', 'readCharges', 'launch'];

/** True for a decision without effect: a cluster whose instances have all ended does not wait for its answer. */
export const isQuestion = ({ kind }: Decision): boolean => ['inspect', 'hear', 'readCharges'].includes(kind);

/** Launches of unknown outcome, whose repeated request finds earlier instances, and terminations. */
export function decisionsToResume(state: ClusterState, underWay: Iterable<Decision>): Decision[] {
  const seqs = new Set<number>();
  const ids = new Set<string>();
  for (const decision of underWay) {
    if (decision.kind === 'launch') seqs.add(decision.seq);
    if (decision.kind === 'terminate') for (const id of decision.ids) ids.add(id);
  }
  return [...terminations(state, ids), ...launches(state, seqs)];
}

/** Called before continue-as-new: the next run repeats inspections and reads of prices without an answer. */
export function inspectAgain({ instances, pricesAsked }: ClusterState): void {
  if (pricesAsked !== undefined) pricesAsked.underWay = false;
  for (const instance of instances) {
    if (instance.state === 'ready' && instance.suspicion?.inspection === 'running')
      instance.suspicion.inspection = 'wanted';
    if (instance.state === 'starting' && instance.lateness !== null) instance.lateness.underWay = false;
  }
}

/** Groups only terminations that began together: a cloud that refuses to terminate one instance may refuse the whole request. */
function terminations({ instances }: ClusterState, underWay: ReadonlySet<string>): Decision[] {
  const left = instances.filter(
    (instance): instance is EndingInstance => instance.state === 'stopping' && !underWay.has(instance.id),
  );
  const groups = Map.groupBy(left, ({ reason }) => `${reason.atMs} ${reason.code}`);
  return [...groups.values()].map((group) => ({
    ...{ kind: 'terminate', ids: group.map(({ id }) => id) },
    why: group[0]?.reason.text ?? '',
  }));
}

function launches(state: ClusterState, underWay: ReadonlySet<number>): Decision[] {
  return state.launches
    .filter(({ seq }) => !underWay.has(seq))
    .map(({ seq, slots, placement }) => ({
      ...{ kind: 'launch', seq, slots: slots.map((slot) => orderFor(slot, state.slots[slot]?.generations ?? 1)) },
      ...(placement === undefined ? {} : { placement }),
    }));
}
