// Exchanges results for leases until the agent is stopped, or has drained because its instance must be left. Carries out the
// decisions of exchange-state.ts, and makes none itself.
import { jsonBy } from '../api-client/client.ts';
import { exchangeAnswerBody } from '../../schema/agent.ts';
import type { ExchangeRequest } from '../../schema/agent.ts';
import type { Session } from '../api-client/session.ts';
import { createNotifier } from '../async/notifier.ts';
import type { Log } from '../logs/log.ts';
import { clusterContextAfter, unknownClusterContext, withResolvableName } from './cluster-context.ts';
import {
  abandon,
  applyAnswer,
  compose,
  createAgentState,
  drain,
  endTurns,
  isDrained,
  noteSent,
  planExchange,
  resultsKept,
  resultsWithinMs,
  runsLow,
  taskBegan,
  taskEnded,
  unprepared,
} from './exchange-state.ts';
import type { AgentState, Grant, TaskResult } from './exchange-state.ts';
import type { Leave } from './interruption.ts';
import { exchangeRefused } from './refusals.ts';
import { createResultWriter } from './result-writer.ts';
import type { Results } from './results.ts';
import type { TaskEnd, TaskRun } from './run-task.ts';
import type { TaskStarter } from './tasks.ts';

export interface ExchangeLoopInput {
  session: Pick<Session, 'call' | 'renew'>;
  start: TaskStarter['start'];
  results: Results;
  log: Pick<Log, 'write'>;
  stopping: AbortController;
  isHead: boolean;
  leave: Pick<Leave, 'draining' | 'late'>;
}

/** Why the instance must be left although its cloud keeps it. */
export interface Unfit {
  code: 'INSTANCE_UNFIT';
  text: string;
}

/** Resolves to null when the agent was stopped or its cloud interrupts the instance. */
export async function exchangeLoop(input: ExchangeLoopInput): Promise<Unfit | null> {
  const { session, start, results, log, stopping, isHead, leave } = input;
  const { signal } = stopping;
  const notifier = createNotifier(signal);
  let state: AgentState = createAgentState(performance.now());
  let known = unknownClusterContext;
  let run: { lease: number; task: TaskRun } | null = null;
  let unfit: Unfit | null = null;
  const fail = (error: unknown): void => stopping.abort({ code: 'AGENT_FAILED', text: String(error), failed: true });
  const endTask = (lease = run?.lease): void => {
    // The task may have ended by itself, and the next one may be running.
    if (run?.lease === lease) run?.task.end();
  };
  const condemn = (why: string): void => {
    if (unfit !== null) return;
    unfit = { code: 'INSTANCE_UNFIT', text: `This instance cannot run tasks any more: ${why}`.slice(0, 1000) };
    log.write(unfit.text);
    notifier.ring();
  };

  const keep = createResultWriter({
    unkept: () => state.unkept,
    keep: (batch) => results.keep(batch),
    kept: (batch) => {
      state = resultsKept(state, batch);
      notifier.ring();
    },
    failed: (error) => {
      state = drain(state);
      condemn(`its disk takes no results: ${String(error)}`);
    },
  });

  const begin = (grant: Grant): void => {
    const task = start(grant, known.latest, () => {
      state = taskBegan(state, grant.lease);
    });
    run = { lease: grant.lease, task };
    void task.ended.then((end) => ended(grant, end)).catch(fail);
  };
  const ended = async (grant: Grant, end: TaskEnd): Promise<void> => {
    run = null;
    if (end.kind === 'unprepared') {
      state = unprepared(state);
      condemn(end.reason);
      return;
    }
    const isWanted = state.held?.dropped === false && !signal.aborted;
    const next = taskEnded(state, isWanted ? resultOf(grant, end) : null, performance.now());
    state = next.state;
    if (next.start !== null && !signal.aborted) begin(next.start);
    if (!isWanted) notifier.ring();
    // Written together with other tasks' results while there is more to run.
    await keep(runsLow(state, performance.now()) ? 0 : resultsWithinMs / 2);
  };

  // The notice may have arrived earlier: while the bundle was requested, or during a long outage.
  if (leave.draining.aborted) state = drain(state);
  leave.draining.addEventListener('abort', () => {
    state = drain(state);
    notifier.ring();
  });
  leave.late.addEventListener('abort', () => {
    if (run !== null) log.write('The running task cannot finish before the instance ends: it is returned to the job.');
    state = abandon(state);
    endTask();
  });

  while (!signal.aborted && !isDrained(state)) {
    state = endTurns(state, performance.now());
    const plan = planExchange(state, performance.now());
    if (plan.say === null) {
      await notifier.wait(plan.waitMs);
      continue;
    }
    let said = plan.say;
    let saidAtMs = performance.now();
    // A retry sends the state of its own time; an unanswered claim keeps its id.
    const body = (): ExchangeRequest => {
      saidAtMs = performance.now();
      state = endTurns(state, saidAtMs);
      said = compose(state, saidAtMs);
      state = noteSent(state, said);
      return { ...said, head: isHead, ...(known.mark === undefined ? {} : { addressesSeen: known.mark }) };
    };
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/exchange',
      body,
      onRefused: (isOurs) => {
        const after = exchangeRefused(state, said, isOurs);
        state = after.state;
        return after.dropped === null ? null : droppedText(after.dropped);
      },
      read: jsonBy((json) => exchangeAnswerBody.parse(json)),
    });
    if (answer === null) break;
    session.renew(answer.token);
    known = await withResolvableName(clusterContextAfter(known, answer), known);
    const nowMs = performance.now();
    const applied = applyAnswer(state, said, answer, { nowMs, tookMs: nowMs - saidAtMs });
    state = applied.state;
    const { orders } = applied;
    // Before anything is awaited, because the state moves on meanwhile.
    if (orders.kill !== null) {
      log.write(`Lease ${orders.kill} has ended: its command is being ended.`);
      endTask(orders.kill);
    }
    if (orders.stop !== null) stopping.abort(orders.stop);
    else if (orders.start !== null) begin(orders.start);
    if (orders.forget.length > 0) await results.forget(orders.forget);
  }
  endTask();
  await untilEnded(run);
  return unfit;
}

const untilEnded = async (run: { task: TaskRun } | null): Promise<unknown> => run?.task.ended;
const droppedText = ({ lease, task }: TaskResult): string =>
  `The result of task ${task} (lease ${lease}) is not accepted: it is given up, and the task may run again.`;

function resultOf({ lease, task, attempt }: Grant, end: Extract<TaskEnd, { kind: 'ended' }>): TaskResult {
  const { exitCode, signal, startedAtMs, endedAtMs, reason } = end;
  return { lease, task, attempt, exitCode, signal, startedAtMs, endedAtMs, reason };
}
