// What a run of a cluster's workflow takes over from the previous one: decisions that the state has as begun, whose activities ended
// with that run.
import { orderFor, type Decision } from './plan.ts';
import type { ClusterState, EndingInstance } from './state.ts';

/**
 * May be given up in flight and carried out again: a provider terminates what it has terminated already without complaint, and a
 * launch under the same token finds what it has launched. A cloud may refuse forever to terminate one instance, or to describe it,
 * and for long to say what became of a launch.
 */
export const isRepeatable = ({ kind }: Decision): boolean => repeatable.includes(kind);

const repeatable: Decision['kind'][] = ['terminate', 'inspect', 'launch'];

/** Only asks: a cluster whose instances have all ended does not wait for its answer. */
export const isQuestion = ({ kind }: Decision): boolean => kind === 'inspect' || kind === 'hear';

/** Launches of unknown outcome, whose request finds what it has launched already, and terminations. */
export function decisionsToResume(state: ClusterState, underWay: Iterable<Decision>): Decision[] {
  const seqs = new Set<number>();
  const ids = new Set<string>();
  for (const decision of underWay) {
    if (decision.kind === 'launch') seqs.add(decision.seq);
    if (decision.kind === 'terminate') for (const id of decision.ids) ids.add(id);
  }
  return [...terminations(state, ids), ...launches(state, seqs)];
}

/** Inspections that have not answered when a run ends are begun by the next. Called when it continues as new. */
export function inspectAgain({ instances }: ClusterState): void {
  for (const instance of instances) {
    if (instance.state === 'ready' && instance.suspicion?.inspection === 'running')
      instance.suspicion.inspection = 'wanted';
    if (instance.state === 'starting' && instance.lateness !== null) instance.lateness.underWay = false;
  }
}

/** Together only those that began to end together: a cloud that refuses to terminate one may refuse all of its request. */
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
