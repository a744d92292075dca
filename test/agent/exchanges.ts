// Shared by tests of an agent's decisions: the control plane's answers, and an exchange in one step.
import {
  applyAnswer,
  noteSent,
  planExchange,
  resultsKept,
  taskBegan,
  taskEnded,
} from '../../agent/job/exchange-state.ts';
import type { AgentState, Grant, TaskResult } from '../../agent/job/exchange-state.ts';
import type { Composed } from '../../agent/job/exchange-state.ts';
import type { ExchangeAnswerBody } from '../../schema/agent.ts';

export const answerWith = (fields: Partial<ExchangeAnswerBody>): ExchangeAnswerBody => ({
  grants: [],
  acknowledged: [],
  drop: [],
  stop: null,
  mayHold: 1,
  retryAfterMs: 2_000,
  renewWithinMs: 30_000,
  taskCount: 1,
  schedulerAddress: null,
  schedulerHostname: null,
  readyWorkers: [],
  token: null,
  ...fields,
});
export const grant = (lease: number): Grant => ({ lease, task: lease, taskId: lease, attempt: 1 });
export const resultOf = (lease: number): TaskResult => ({
  lease,
  task: lease,
  attempt: 1,
  exitCode: 0,
  signal: null,
  startedAtMs: 1,
  endedAtMs: 2,
  reason: null,
});

export function say(state: AgentState, nowMs: number): { state: AgentState; request: Composed } {
  const { say: request } = planExchange(state, nowMs);
  if (request === null) throw new Error('nothing to say');
  return { state: noteSent(state, request), request };
}

export function trade(state: AgentState, nowMs: number, fields: Partial<ExchangeAnswerBody>) {
  const said = say(state, nowMs);
  const { state: after, orders } = applyAnswer(said.state, said.request, answerWith(fields), { nowMs });
  return { state: begun(after), orders, request: said.request };
}

/** As in the loop once the command of the task in turn has started. */
export const begun = (state: AgentState): AgentState =>
  state.held === null ? state : taskBegan(state, state.held.lease);

/** As in the loop once the result is on disk. */
export function finish(state: AgentState, result: TaskResult | null, nowMs: number): AgentState {
  const ended = begun(taskEnded(state, result, nowMs).state);
  return resultsKept(ended, ended.unkept);
}
