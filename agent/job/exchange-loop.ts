// Trades results for leases until the agent is stopped, or has nothing left because its instance is to be left: carries out
// what exchange-state.ts decides, and decides nothing itself.
import { exchangeAnswerBody } from '../../schema/agent.ts';
import type { ExchangeRequest } from '../../schema/agent.ts';
import { createBell } from '../async/notifier.ts';
import { createKeeper } from './result-writer.ts';
import type { Leave } from './interruption.ts';
import type { Log } from '../logs/log.ts';
import { exchangeRefused } from './refusals.ts';
import type { Session } from '../api-client/session.ts';
import type { Results } from './results.ts';
import type { TaskEnd, TaskRun } from './run-task.ts';
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
  taskEnded,
} from './exchange-state.ts';
import type { AgentState, Grant, TaskResult } from './exchange-state.ts';
import { surroundingsAfter, unknownSurroundings } from './cluster-context.ts';
import type { Surroundings } from './cluster-context.ts';

export interface ExchangeLoopInput {
  session: Session;
  start: (grant: Grant, surroundings: Surroundings) => TaskRun;
  results: Results;
  log: Log;
  stopping: AbortController;
  isHead: boolean;
  leave: Pick<Leave, 'draining' | 'late'>;
}

export async function exchangeLoop({
  session,
  start,
  results,
  log,
  stopping,
  isHead,
  leave,
}: ExchangeLoopInput): Promise<void> {
  const { signal } = stopping;
  const bell = createBell(signal);
  let state: AgentState = createAgentState(Date.now());
  let known = unknownSurroundings;
  let run: TaskRun | null = null;
  const fail = (error: unknown): void => stopping.abort({ code: 'AGENT_FAILED', text: String(error), failed: true });

  const keep = createKeeper({
    unkept: () => state.unkept,
    keep: (batch) => results.keep(batch),
    kept: (batch) => {
      state = resultsKept(state, batch);
      bell.ring();
    },
  });

  const begin = (grant: Grant): void => {
    const begun = start(grant, known.latest);
    run = begun;
    void begun.ended
      .then(async (end) => {
        const isWanted = state.held?.dropped === false && !signal.aborted;
        const next = taskEnded(state, isWanted ? resultOf(grant, end) : null, Date.now());
        state = next.state;
        run = null;
        if (next.start !== null && !signal.aborted) begin(next.start);
        if (!isWanted) bell.ring();
        // Together with those of other tasks, as long as there is more to run.
        await keep(runsLow(state, Date.now()) ? 0 : resultsWithinMs / 2);
      })
      .catch(fail);
  };

  // The notice may have come before: while the bundle was asked for, in an outage of ours for long.
  if (leave.draining.aborted) state = drain(state);
  leave.draining.addEventListener('abort', () => {
    state = drain(state);
    bell.ring();
  });
  leave.late.addEventListener('abort', () => {
    if (run !== null) log.write('The running task cannot finish before the instance is gone: it is given back.');
    state = abandon(state);
    endTask(run);
  });

  while (!signal.aborted && !isDrained(state)) {
    state = endTurns(state, Date.now());
    const plan = planExchange(state, Date.now());
    if (plan.say === null) {
      await bell.wait(plan.waitMs);
      continue;
    }
    let said = plan.say;
    let saidAtMs = Date.now();
    // An attempt after a failure says what is true by then; an unanswered claim keeps its id.
    const body = (): ExchangeRequest => {
      saidAtMs = Date.now();
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
      parse: (json) => exchangeAnswerBody.parse(json),
    });
    if (answer === null) break;
    session.renew(answer.token);
    known = surroundingsAfter(known, answer);
    const nowMs = Date.now();
    const applied = applyAnswer(state, said, answer, { nowMs, tookMs: nowMs - saidAtMs });
    state = applied.state;
    const { orders } = applied;
    if (orders.forget.length > 0) await results.forget(orders.forget);
    if (orders.stop !== null) stopping.abort(orders.stop);
    else if (orders.start !== null) begin(orders.start);
    if (orders.kill !== null) {
      log.write(`Lease ${orders.kill} has ended: its command is being ended.`);
      endTask(run);
    }
  }
  endTask(run);
  await ended(run);
}

const endTask = (run: TaskRun | null): void => run?.end();
const droppedText = ({ lease, task }: TaskResult): string =>
  `The result of task ${task} (lease ${lease}) is not accepted: it is given up, and the task may run again.`;
const ended = async (run: TaskRun | null): Promise<unknown> => run?.ended;

function resultOf(grant: Grant, end: TaskEnd): ExchangeRequest['results'][number] {
  return { lease: grant.lease, task: grant.task, attempt: grant.attempt, ...end };
}
