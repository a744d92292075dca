// An interceptor of every workflow, part of every bundle: it orders the jobs of an activation, so a replay issues the commands in the order of the
// history. Temporal's SDK may deliver an event and a new update in two activations, and deliver both in one activation during a replay, updates first
// or last. The order of the commands then differs from the history, and the workflow task fails with "Update machine does not handle this event".
// REMOVE when temporalio/sdk-rust issues 943 and 1146 are closed and released in the SDK.
//
// The order: all other jobs run until no condition can resolve, then the updates run, in the same activation. A signal that arrives after an update
// stays after it: a server reapplies signals in this order after a reset, and a cancellation must not overtake results that were reported before it.
// During a replay the SDK delivers all signals first, so the positions of signals are written to the history as markers. A run that continues as new
// waits for the held updates, because the carried state must contain their effects.
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
  let held = 0;
  const activate: Activate = (input, next) => {
    const { jobs } = input.activation;
    const { sooner, later } = split(inPlace(jobs ?? [], input.activation.historyLength ?? 0));
    if (later.length === 0 || sooner.length === 0) return next(input);
    next({ ...input, activation: only(input.activation, sooner) });
    held += 1;
    // A cancelled workflow answers updates too.
    void CancellationScope.nonCancellable(async () => {
      await quiet();
      next({ ...input, activation: only(input.activation, later) });
      held -= 1;
    });
  };
  const continueAsNew: ContinueAsNew = async (input, next) => {
    const isDone = (): boolean => held === 0 && allHandlersFinished();
    if (!isDone()) await CancellationScope.nonCancellable(() => condition(isDone));
    return next(input);
  };
  return { internals: [{ activate }], outbound: [{ continueAsNew }] };
}

type Jobs = NonNullable<Activation['jobs']>;

function split(jobs: Jobs): { sooner: Jobs; later: Jobs } {
  const first = jobs.findIndex(({ doUpdate }) => isThere(doUpdate));
  const isLater = ({ doUpdate, signalWorkflow }: Jobs[number], at: number): boolean =>
    isThere(doUpdate) || (first >= 0 && at > first && isThere(signalWorkflow));
  return { sooner: jobs.filter((job, at) => !isLater(job, at)), later: jobs.filter(isLater) };
}

/**
 * Returns the jobs in the order in which they first ran. `patched` writes a marker here, one for each position, and is no version check: no other
 * command is written to the history at once and known at the beginning of a replayed activation.
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

/** Maximum number of consecutive waits without a command between them; none of our loops has as many. Each round costs microseconds. */
const rounds = 20;

/** Resolves when no condition can make progress: each round checks all conditions once. */
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
