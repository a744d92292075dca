// A job of short tasks on two agents in simulated time: the agent's own decisions against the job's own rules, exchanges with latency, and one agent
// that dies. Only the network and the processes are missing.
import {
  applyAnswer,
  compose,
  createAgentState,
  endTurns,
  noteSent,
  planExchange,
  resultsKept,
  taskBegan,
  taskEnded,
} from '../../agent/job/exchange-state.ts';
import type { AgentState, Grant, TaskResult } from '../../agent/job/exchange-state.ts';
import { createJobState } from '../../domain/job/create.ts';
import { loseInstance } from '../../domain/job/events.ts';
import { exchange } from '../../domain/job/exchange.ts';
import type { JobState } from '../../domain/job/state.ts';
import type { Composed } from '../../agent/job/exchange-state.ts';
import type { ExchangeAnswerBody } from '../../schema/agent.ts';

export interface ShortTasks {
  tasks: number;
  taskMs: number;
  /** The time from a request to its answer. */
  exchangeMs: number;
  /** When one agent dies. The job learns of it, and another agent starts, 10 s later. Null for no death. */
  deathAtMs: number | null;
}

interface Agent {
  id: string;
  state: AgentState;
  run: { grant: Grant; endsAtMs: number } | null;
  flight: { request: Composed; sentAtMs: number; answerAtMs: number } | null;
}

const stepMs = 5;
const foundAfterMs = 10_000;

/** When the job ended, in simulated milliseconds; throws when it does not. */
export function runShortTasks({ tasks, taskMs, exchangeMs, deathAtMs }: ShortTasks): number {
  const job = aJob(tasks);
  let agents = [createAgent('i_1', 0), createAgent('i_2', 0)];
  const begin = (agent: Agent, grant: Grant | null, nowMs: number): void => {
    if (grant === null) return;
    agent.run = { grant, endsAtMs: nowMs + taskMs };
    agent.state = taskBegan(agent.state, grant.lease);
  };
  const step = (agent: Agent, nowMs: number): void => {
    if (agent.run !== null && nowMs >= agent.run.endsAtMs) {
      const { state, start } = taskEnded(agent.state, resultOf(agent.run.grant, nowMs), nowMs);
      agent.run = null;
      agent.state = resultsKept(state, state.unkept);
      begin(agent, start, nowMs);
    }
    if (agent.flight !== null && nowMs >= agent.flight.answerAtMs) {
      const { request, sentAtMs } = agent.flight;
      agent.flight = null;
      const times = { nowMs, tookMs: nowMs - sentAtMs };
      const { state, orders } = applyAnswer(agent.state, request, answerOf(job, agent.id, request, nowMs), times);
      agent.state = state;
      begin(agent, orders.start, nowMs);
    }
    if (agent.flight !== null) return;
    agent.state = endTurns(agent.state, nowMs);
    if (planExchange(agent.state, nowMs).say === null) return;
    const request = compose(agent.state, nowMs);
    agent.state = noteSent(agent.state, request);
    agent.flight = { request, sentAtMs: nowMs, answerAtMs: nowMs + exchangeMs };
  };
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += stepMs) {
    if (nowMs === deathAtMs) agents = agents.slice(1);
    if (deathAtMs !== null && nowMs === deathAtMs + foundAfterMs) {
      loseInstance(job, { id: 'i_1', why: 'killed', isOrderly: false }, nowMs);
      agents.push(createAgent('i_3', nowMs));
    }
    for (const agent of agents) step(agent, nowMs);
    if (job.outcome !== null) return nowMs;
  }
  throw new Error(`the job does not end: ${JSON.stringify(job.counters)}`);
}

const createAgent = (id: string, nowMs: number): Agent => ({
  id,
  state: createAgentState(nowMs),
  run: null,
  flight: null,
});

function aJob(taskCount: number): JobState {
  return createJobState(
    { number: 1, workspace: 'w', submittedAtMs: 0 },
    {
      ...{ name: 'short', command: 'c', array: `0-${taskCount - 1}`, taskCount, instances: 2, leaseMs: 90_000 },
      ...{ retries: 0, jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
    },
  );
}

function answerOf(job: JobState, instance: string, request: Composed, nowMs: number): ExchangeAnswerBody {
  const answer = exchange(job, { ...request, head: false, instance }, nowMs, (index) => index);
  const elsewhere = {
    taskCount: job.settings.taskCount,
    schedulerAddress: null,
    schedulerHostname: null,
    readyWorkers: [],
    token: null,
  };
  return { ...answer, ...elsewhere };
}

const resultOf = ({ lease, task, attempt }: Grant, nowMs: number): TaskResult => ({
  ...{ lease, task, attempt, exitCode: 0, signal: null, startedAtMs: nowMs, endedAtMs: nowMs, reason: null },
});
