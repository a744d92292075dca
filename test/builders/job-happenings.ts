// The events of a simulated job: exchanges that are answered, lost or repeated, foreign results, deaths, cancellations, a state that passes through
// JSON. Each event is entered in the simulation's own books (job-books.ts).
import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';
import { createAgent, finishOne, returnLeases, hear, isAwake, speak, type SimAgent } from './job-agent.ts';
import {
  cancelInBooks,
  enterExchange,
  interruptInBooks,
  isAllOver,
  isLive,
  isNoOp,
  type JobBooks,
  loseInBooks,
  taskIdAt,
} from './job-books.ts';
import type { JobRules } from './rules.ts';
import { type Met, must, same } from './simulations.ts';

export const leaseMs = 9_000;

export const jobSubjects = [
  'loss',
  'cancel',
  'stale result',
  'outage',
  'silence',
  'retry',
  'timeout',
  'released',
  'handed back',
  'orderly end',
] as const;
export type JobSubject = (typeof jobSubjects)[number];

export interface JobSimulation {
  rules: JobRules;
  state: JobState;
  books: JobBooks;
  nowMs: number;
  agents: SimAgent[];
  born: number;
  capacity: number;
  takesTurns: boolean;
  /** All items sent so far: the network may deliver any of them again or for the first time. */
  said: ExchangeItem[];
  results: TaskResult[];
  /** When each instance was last heard. */
  heardAtMs: Map<string, number>;
  /** When a task was last seen waiting. */
  waitedAtMs: number;
  met: Met<JobSubject>;
}

/** A restarted agent is another instance. The agents' clocks are an hour early, right, or an hour late. */
export function startAgent(sim: JobSimulation, isHead = sim.born === 0): SimAgent {
  const { born, capacity, takesTurns } = sim;
  const skewMs = ((born % 3) - 1) * 3_600_000;
  const agent = createAgent({ id: `i_${born}`, capacity, takesTurns, skewMs, head: isHead });
  sim.born += 1;
  sim.agents.push(agent);
  return agent;
}

export function talk(sim: JobSimulation, agent: SimAgent | undefined, how: string): void {
  if (agent === undefined || !isAwake(agent)) return;
  const item = speak(agent);
  sim.said.push(item);
  if (how === 'request lost') return;
  const answer = deliver(sim, item);
  if (how === 'answered') hear(agent, item, answer);
}

/** The agent claims work and drops it, repeatedly. */
export function forget(sim: JobSimulation, agent: SimAgent, times: number): void {
  for (let n = 0; n < times; n += 1) {
    talk(sim, agent, 'answered');
    agent.running = [];
  }
}

/** The leases that it has not begun are granted to other agents. */
export function giveUpTurns(sim: JobSimulation, agent: SimAgent): void {
  if (!isAwake(agent)) return;
  returnLeases(agent);
  if (agent.returning.length > 0) sim.met('handed back');
}

export function work(sim: JobSimulation, agent: SimAgent | undefined, exitCode: number): void {
  if (agent === undefined || !isAwake(agent)) return;
  const result = finishOne(agent, exitCode, sim.nowMs);
  if (result !== null) sim.results.push(result);
}

export function deliver(sim: JobSimulation, item: ExchangeItem): ExchangeAnswer {
  const { rules, books } = sim;
  const isNothing = isNoOp(books, item) && sim.state.instances[item.instance] !== undefined;
  const before = isNothing ? withoutTraces(sim.state, item.instance) : '';
  if (item.results.some((result) => books.lostLeases.has(result.lease))) sim.met('stale result');
  const answer = rules.exchange(sim.state, item, sim.nowMs, taskIdAt);
  enterExchange(books, item, answer);
  sim.heardAtMs.set(item.instance, sim.nowMs);
  if (isNothing) {
    must(before === withoutTraces(sim.state, item.instance), () => `${JSON.stringify(item)} must change nothing`);
  }
  for (const { lease } of sim.state.leases.filter((held) => isNamed(item, held.lease))) {
    const held = sim.state.leases.find((each) => each.lease === lease);
    must((held?.deadlineMs ?? 0) >= sim.nowMs + leaseMs, () => `lease ${lease} was not renewed`);
  }
  return answer;
}

const isNamed = ({ running, held = [] }: ExchangeItem, lease: number): boolean => [...running, ...held].includes(lease);

/**
 * The state without the traces that a stale or repeated item may leave: two counters, its sender's last contact and role, and that no agent waits.
 */
function withoutTraces(state: JobState, instance: string): string {
  const sender = { ...state.instances[instance], lastSeenMs: 0, head: null };
  const counters = { ...state.counters, stale: 0, repeated: 0 };
  return JSON.stringify({ ...state, counters, emptySinceMs: 0, instances: { ...state.instances, [instance]: sender } });
}

/** A result under another sender's lease, an ended lease, or for another task. */
export function deliverForeign(sim: JobSimulation, result: TaskResult | undefined, agent: SimAgent | undefined): void {
  if (agent === undefined) return;
  const running = sim.state.leases.find((held) => held.instance !== agent.id);
  const stolen = result ?? { ...finished, lease: running?.lease ?? 1, task: running?.task ?? 0 };
  const foreign = isLive(sim.books, agent.id, stolen) ? { ...stolen, task: stolen.task + 1 } : stolen;
  const claim = sim.books.lastClaim.get(agent.id) ?? 0;
  deliver(sim, {
    instance: agent.id,
    claim,
    want: 0,
    running: [],
    returned: [running?.lease ?? 1],
    results: [foreign],
    head: agent.head,
  });
}

const finished = { attempt: 1, exitCode: 0, signal: null, startedAtMs: 0, endedAtMs: 0, reason: null };

export function die(sim: JobSimulation, agent: SimAgent): void {
  if (agent.dead) return;
  agent.dead = true;
  if (sim.born < 8) startAgent(sim);
}

/** The cluster reports the instance as lost or ended: usually a dead one, sometimes by mistake a working one. */
export function foundGone(sim: JobSimulation, agent: SimAgent, isOrderly: boolean): void {
  const { rules, state, books } = sim;
  rules.loseInstance(state, { id: agent.id, why: 'found gone', isOrderly }, sim.nowMs);
  books.lostInstances.add(agent.id);
  for (const [lease, held] of [...books.open]) {
    if (held.instance !== agent.id) continue;
    if (isOrderly) interruptInBooks(books, lease);
    else loseInBooks(books, lease);
  }
  if (isOrderly) sim.met('orderly end');
}

export function cancel(sim: JobSimulation, code: string): void {
  if (!isAllOver(sim.books)) sim.met('cancel');
  const before = JSON.stringify(sim.state);
  const hadEnded = isAllOver(sim.books);
  sim.rules.cancelJob(sim.state, { code, text: 'requested by a user', atMs: sim.nowMs });
  cancelInBooks(sim.books);
  if (hadEnded) must(before === JSON.stringify(sim.state), () => 'a cancel after the end must change nothing');
}

/** Continue-as-new: the state passes through JSON, and pages that are due move to the archive. */
export function continueAsNew(sim: JobSimulation): void {
  const copy: JobState = JSON.parse(JSON.stringify(sim.state));
  must(same(copy, sim.state) && sameKeys(copy, sim.state), () => 'the state is not plain JSON');
  sim.state = copy;
  const due = sim.rules.pageDue(copy);
  if (due === null) return;
  sim.books.written.push(...due);
  sim.rules.pageWritten(copy, due.length);
}

function sameKeys(left: object, right: object): boolean {
  return same(Object.keys(left), Object.keys(right));
}
