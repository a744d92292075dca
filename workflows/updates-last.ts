// An interceptor of every workflow, part of every bundle: what happened is worked off before updates are. Temporal's SDK may
// give a workflow what happened and a new update one after the other, and a replay both at once, updates first, or the other
// way round (temporalio/sdk-rust issues 943 and 1146: after a worker's death, or when it has forgotten the workflow). The
// commands then come in another order than the history has, and the workflow stands still: "Update machine does not handle
// this event". Here both ways give one order. It must never hold an update beyond its activation, and changes nothing for
// what was begun before it. A run that continues as new waits for the updates that are held: the state that it hands on would
// not have what they are answered with. A signal that comes after an update stays after it: only what a reset applies again
// comes like that, and a cancellation must not overtake the results that had been reported before it. A replay is given all
// signals first: so the history keeps their places.
import { allHandlersFinished, CancellationScope, condition, patched, workflowInfo } from '@temporalio/workflow';
import type {
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type ContinueAsNew = NonNullable<WorkflowOutboundCallsInterceptor['continueAsNew']>;
type Activation = Parameters<Activate>[0]['activation'];

export function interceptors(): WorkflowInterceptors {
  let isOn = false;
  let isInOrder = false;
  let held = 0;
  const activate: Activate = (input, next) => {
    const { jobs } = input.activation;
    const isFirst = jobs?.some(({ initializeWorkflow }) => isThere(initializeWorkflow)) ?? false;
    // Asked at the beginning and nowhere else: only that moment is the same in every replay.
    if (isFirst) {
      isInOrder = patched(inOrderPatch);
      isOn = isInOrder || patched(updatesLastPatch);
    }
    const ordered = isInOrder ? inPlace(jobs ?? [], input.activation.historyLength ?? 0) : (jobs ?? []);
    const { sooner, later } = split(ordered, isInOrder);
    if (!isOn || later.length === 0 || sooner.length === 0) return next(input);
    next({ ...input, activation: only(input.activation, sooner) });
    held += 1;
    // A cancelled workflow answers updates as well.
    void CancellationScope.nonCancellable(async () => {
      await quiet();
      next({ ...input, activation: only(input.activation, later) });
      held -= 1;
    });
  };
  const continueAsNew: ContinueAsNew = async (input, next) => {
    const isDone = (): boolean => held === 0 && allHandlersFinished();
    if (isOn && !isDone()) await CancellationScope.nonCancellable(() => condition(isDone));
    return next(input);
  };
  return { internals: [{ activate }], outbound: [{ continueAsNew }] };
}

/** Runs of today have the second of these alone; those of the first know no order of updates and signals. */
const updatesLastPatch = 'updates-come-last';
const inOrderPatch = 'updates-come-last-in-order';

type Jobs = NonNullable<Activation['jobs']>;

function split(jobs: Jobs, isInOrder: boolean): { sooner: Jobs; later: Jobs } {
  const first = jobs.findIndex(({ doUpdate }) => isThere(doUpdate));
  const isLater = ({ doUpdate, signalWorkflow }: Jobs[number], at: number): boolean =>
    isThere(doUpdate) || (isInOrder && first >= 0 && at > first && isThere(signalWorkflow));
  return { sooner: jobs.filter((job, at) => !isLater(job, at)), later: jobs.filter(isLater) };
}

/**
 * As they were when they were first worked off, where the history says so. Each place is a patch of its own: nothing else is
 * in the history at once, and known at the beginning of a replayed activation.
 */
function inPlace(jobs: Jobs, historyLength: number): Jobs {
  const updates = jobs.filter(({ doUpdate }) => isThere(doUpdate));
  const signals = jobs.filter(({ signalWorkflow }) => isThere(signalWorkflow));
  if (updates.length === 0 || signals.length === 0) return jobs;
  const nameOf = (signal: number, place: number): string => `signal-after-updates-${historyLength}-${signal}-${place}`;
  if (!workflowInfo().unsafe.isReplaying) {
    for (const [nth, signal] of signals.entries()) {
      const before = jobs.slice(0, jobs.indexOf(signal));
      const place = before.filter(({ doUpdate }) => isThere(doUpdate)).length;
      if (place > 0) patched(nameOf(nth, place));
    }
    return jobs;
  }
  const places = signals.map((_, nth) => updates.findIndex((_update, at) => patched(nameOf(nth, at + 1))) + 1);
  if (places.every((place) => place === 0)) return jobs;
  const signalsAt = (place: number): Jobs => signals.filter((_, nth) => places[nth] === place);
  return [
    ...jobs.filter(({ doUpdate, signalWorkflow }) => !isThere(doUpdate) && !isThere(signalWorkflow)),
    ...signalsAt(0),
    ...updates.flatMap((update, at) => [update, ...signalsAt(at + 1)]),
  ];
}

const isThere = (value: unknown): boolean => value !== null && value !== undefined;

const only = (activation: Activation, jobs: Jobs): Activation => ({ ...activation, jobs });

/** More waits in a row than any loop of ours has without a command between; each costs microseconds. */
const rounds = 20;

/** Until all that can go on has gone on: each round is one look at all conditions, and what follows from them. */
async function quiet(): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    let isNext = false;
    await condition(() => {
      const was = isNext;
      isNext = true;
      return was;
    });
  }
}
