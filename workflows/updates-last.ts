// An interceptor of every workflow, part of every bundle: what happened is worked off before updates are. Temporal's SDK may
// give a workflow what happened and a new update one after the other, and a replay both at once, updates first, or the other
// way round (temporalio/sdk-rust issues 943 and 1146: after a worker's death, or when it has forgotten the workflow). The
// commands then come in another order than the history has, and the workflow stands still: "Update machine does not handle
// this event". Here both ways give one order. It must never hold an update beyond its activation, and changes nothing for
// what was begun before it. A run that continues as new waits for the updates that are held: the state that it hands on would
// not have what they are answered with. A signal that comes after an update stays after it: only what a reset applies again
// comes like that, and a cancellation must not overtake the results that had been reported before it.
import { allHandlersFinished, CancellationScope, condition, patched } from '@temporalio/workflow';
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
    const { sooner, later } = split(jobs ?? [], isInOrder);
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
