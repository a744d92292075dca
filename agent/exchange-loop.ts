// Trades results for leases until the agent is stopped, or has nothing left because its instance is to be left: carries out
// what state.ts decides, and decides nothing itself.
import { exchangeAnswerBody } from '../schema/agent.ts';
import type { ExchangeAnswerBody, ExchangeRequest } from '../schema/agent.ts';
import { createBell } from './bell.ts';
import type { Leave } from './leave.ts';
import type { Log } from './log.ts';
import type { Session } from './register.ts';
import type { Results } from './results.ts';
import type { TaskEnd, TaskRun } from './runner.ts';
import {
  abandon,
  applyAnswer,
  createAgentState,
  drain,
  isDrained,
  noteSent,
  planExchange,
  taskEnded,
} from './state.ts';
import type { AgentState, Grant } from './state.ts';

export interface ExchangeLoopInput {
  session: Session;
  start: (grant: Grant, answer: ExchangeAnswerBody) => TaskRun;
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
  let run: TaskRun | null = null;

  const begin = (grant: Grant, answer: ExchangeAnswerBody): void => {
    const begun = start(grant, answer);
    run = begun;
    void begun.ended
      .then(async (end) => {
        const isWanted = state.held?.dropped === false && !signal.aborted;
        const result = isWanted ? resultOf(grant, end) : null;
        // On disk before anybody hears of it.
        if (result !== null) await results.keep(result);
        state = taskEnded(state, result, Date.now());
        run = null;
        bell.ring();
      })
      .catch((error: unknown) => stopping.abort({ code: 'AGENT_FAILED', text: String(error), failed: true }));
  };

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
    const plan = planExchange(state, Date.now());
    if (plan.say === null) {
      await bell.wait(plan.waitMs);
      continue;
    }
    let said = plan.say;
    // An attempt after a failure says what is true by then; an unanswered claim keeps its id.
    const body = (): ExchangeRequest => {
      const again = planExchange(state, Date.now());
      said = again.say ?? said;
      state = noteSent(state, said);
      return { ...said, head: isHead };
    };
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/exchange',
      body,
      parse: (json) => exchangeAnswerBody.parse(json),
    });
    if (answer === null) break;
    session.renew(answer.token);
    const applied = applyAnswer(state, said, answer, Date.now());
    state = applied.state;
    const { orders } = applied;
    if (orders.forget.length > 0) await results.forget(orders.forget);
    if (orders.stop !== null) stopping.abort(orders.stop);
    else if (orders.start !== null) begin(orders.start, answer);
    if (orders.kill !== null) {
      log.write(`Lease ${orders.kill} has ended: its command is being ended.`);
      endTask(run);
    }
  }
  endTask(run);
  await ended(run);
}

const endTask = (run: TaskRun | null): void => run?.end();
const ended = async (run: TaskRun | null): Promise<unknown> => run?.ended;

function resultOf(grant: Grant, end: TaskEnd): ExchangeRequest['results'][number] {
  return { lease: grant.lease, task: grant.task, attempt: grant.attempt, ...end };
}
