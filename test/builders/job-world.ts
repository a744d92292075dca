// A simulated world of one job: agents that behave as real ones do, a network that loses, repeats and delays, outages of
// ours, instances that freeze and die. Every step is checked against books of its own (job-books.ts).
import fc from 'fast-check';

import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';
import { createAgent, finishOne, hear, isAwake, speak, type SimAgent } from './job-agent.ts';
import {
  cancelInBooks,
  compareBooks,
  enterExchange,
  isAllOver,
  isLive,
  isNoOp,
  type JobBooks,
  loseInBooks,
  openBooks,
  taskIdAt,
} from './job-books.ts';
import { passTime } from './job-time.ts';
import type { JobRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick, same } from './worlds.ts';

export const leaseMs = 9_000;
const bornAtMs = 1_000_000;
const subjects = ['loss', 'cancel', 'stale result', 'outage', 'silence', 'retry', 'timeout'] as const;
type Subject = (typeof subjects)[number];

/** Runs many worlds against the rules; throws when one breaks them. */
export function checkJobWorlds(rules: JobRules, options: CheckOptions): Record<string, number> {
  const run = (plan: JobPlan, met: Met<Subject>): void => runJobWorld(rules, plan, met);
  return checkWorlds({ plan: jobPlan, subjects, run }, options);
}

export interface JobWorld {
  rules: JobRules;
  state: JobState;
  books: JobBooks;
  nowMs: number;
  agents: SimAgent[];
  born: number;
  capacity: number;
  /** Everything said so far: the network may deliver any of it again, or for the first time. */
  said: ExchangeItem[];
  results: TaskResult[];
  /** When each instance was last heard. */
  heardAtMs: Map<string, number>;
  met: Met<Subject>;
}

const agentNumber = fc.nat(3);
const fate = fc.constantFrom('answered', 'answered', 'answered', 'answer lost', 'request lost');
const step = fc.oneof(
  { weight: 40, arbitrary: fc.record({ do: fc.constant('talk'), agent: agentNumber, fate }) },
  {
    weight: 16,
    arbitrary: fc.record({ do: fc.constant('work'), agent: agentNumber, exitCode: fc.constantFrom(0, 0, 0, 1, -9) }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('wait'), thirds: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('late'), copy: fc.nat(40) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('stray'), result: fc.nat(20), agent: agentNumber }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('freeze'), agent: agentNumber }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('thaw'), agent: agentNumber }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('forget'), agent: agentNumber }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('die'), agent: agentNumber }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('found gone'), agent: agentNumber }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel'), code: fc.constantFrom('CANCELLED', 'NO_INSTANCES') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('outage'), leases: fc.integer({ min: 2, max: 20 }), work: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('roll') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const jobPlan = fc.record({
  tasks: fc.integer({ min: 1, max: 5 }),
  agents: fc.integer({ min: 1, max: 4 }),
  capacity: fc.integer({ min: 1, max: 2 }),
  retries: fc.nat(2),
  timeoutLeases: fc.constantFrom(null, null, 7),
  /** Whether what is frozen at the end ever wakes before the job is over. */
  thawAtEnd: fc.boolean(),
  steps: fc.array(step, { minLength: 15, maxLength: 50, size: 'max' }),
});
type JobPlan = typeof jobPlan extends fc.Arbitrary<infer T> ? T : never;

function runJobWorld(rules: JobRules, plan: JobPlan, met: Met<Subject>): void {
  const world = createWorld(rules, plan, met);
  for (const each of plan.steps) {
    take(world, each);
    compareBooks(world.books, world.state, world.nowMs);
  }
  calmDown(world, plan.thawAtEnd);
  afterTheEnd(world);
  const { counters } = world.state;
  if (counters.lost > 0) met('loss');
  if (counters.retried > 0) met('retry');
}

function createWorld(rules: JobRules, plan: JobPlan, met: Met<Subject>): JobWorld {
  const settings = {
    name: 'simulated',
    command: 'true',
    taskCount: plan.tasks,
    array: `10-${taskIdAt(plan.tasks - 1)}:2`,
    instances: plan.agents,
    leaseMs,
    retries: plan.retries,
    jobTimeoutMs: plan.timeoutLeases === null ? null : plan.timeoutLeases * leaseMs,
    provider: 'local',
    providerQueue: 'local/test',
    instanceVcpus: 1,
  };
  const world: JobWorld = {
    rules,
    state: rules.createJobState({ number: 1, workspace: 'w', submittedAtMs: bornAtMs }, settings),
    books: openBooks(plan.tasks, plan.retries),
    nowMs: bornAtMs,
    agents: [],
    born: 0,
    capacity: plan.capacity,
    said: [],
    results: [],
    heardAtMs: new Map(),
    met,
  };
  for (let n = 0; n < plan.agents; n += 1) startAgent(world);
  return world;
}

/** A restarted agent is another instance. Their clocks are an hour early, right, or an hour late. */
function startAgent(world: JobWorld): SimAgent {
  const agent = createAgent(`i_${world.born}`, world.capacity, ((world.born % 3) - 1) * 3_600_000);
  world.born += 1;
  world.agents.push(agent);
  return agent;
}

function take(world: JobWorld, each: Step): void {
  if (each.do === 'talk') return talk(world, pick(world.agents, each.agent), each.fate);
  if (each.do === 'work') return work(world, pick(world.agents, each.agent), each.exitCode);
  if (each.do === 'wait') return passTime(world, each.thirds * (leaseMs / 3), false);
  if (each.do === 'late') {
    const copy = pick(world.said, each.copy);
    return copy === undefined ? undefined : void deliver(world, copy);
  }
  if (each.do === 'stray') return deliverStray(world, pick(world.results, each.result), pick(world.agents, each.agent));
  if (each.do === 'cancel') return cancel(world, each.code);
  if (each.do === 'outage') {
    if (each.work) for (const agent of world.agents) work(world, agent, 0);
    return passTime(world, each.leases * leaseMs, true);
  }
  if (each.do === 'roll') return roll(world);
  const agent = pick(world.agents, each.agent);
  if (agent === undefined) return;
  if (each.do === 'freeze') agent.frozen = true;
  else if (each.do === 'thaw') agent.frozen = false;
  else if (each.do === 'forget') agent.running = [];
  else if (each.do === 'die') die(world, agent);
  else foundGone(world, agent);
}

function talk(world: JobWorld, agent: SimAgent | undefined, how: string): void {
  if (agent === undefined || !isAwake(agent)) return;
  const item = speak(agent);
  world.said.push(item);
  if (how === 'request lost') return;
  const answer = deliver(world, item);
  if (how === 'answered') hear(agent, item, answer);
}

function work(world: JobWorld, agent: SimAgent | undefined, exitCode: number): void {
  if (agent === undefined || !isAwake(agent)) return;
  const result = finishOne(agent, exitCode, world.nowMs);
  if (result !== null) world.results.push(result);
}

function deliver(world: JobWorld, item: ExchangeItem): ExchangeAnswer {
  const { rules, books } = world;
  const isNothing = isNoOp(books, item) && world.state.instances[item.instance] !== undefined;
  const before = isNothing ? withoutTraces(world.state, item.instance) : '';
  if (item.results.some((result) => books.lostLeases.has(result.lease))) world.met('stale result');
  const answer = rules.exchange(world.state, item, world.nowMs, taskIdAt);
  enterExchange(books, item, answer);
  world.heardAtMs.set(item.instance, world.nowMs);
  if (isNothing) {
    must(before === withoutTraces(world.state, item.instance), () => `${JSON.stringify(item)} must change nothing`);
  }
  for (const { lease } of world.state.leases.filter((held) => item.running.includes(held.lease))) {
    const held = world.state.leases.find((each) => each.lease === lease);
    must(held?.deadlineMs === world.nowMs + leaseMs, () => `lease ${lease} was not renewed`);
  }
  return answer;
}

/** The state but for what a stale or repeated item may leave behind: two counters, and that its sender was heard. */
function withoutTraces(state: JobState, instance: string): string {
  const sender = { ...state.instances[instance], lastSeenMs: 0 };
  const counters = { ...state.counters, stale: 0, repeated: 0 };
  return JSON.stringify({ ...state, counters, instances: { ...state.instances, [instance]: sender } });
}

/** A result under a lease that is not its sender's, or that is over, or for another task. */
function deliverStray(world: JobWorld, result: TaskResult | undefined, agent: SimAgent | undefined): void {
  if (agent === undefined) return;
  const running = world.state.leases.find((held) => held.instance !== agent.id);
  const stolen = result ?? { ...finished, lease: running?.lease ?? 1, task: running?.task ?? 0 };
  const stray = isLive(world.books, agent.id, stolen) ? { ...stolen, task: stolen.task + 1 } : stolen;
  const claim = world.books.lastClaim.get(agent.id) ?? 0;
  deliver(world, { instance: agent.id, claim, want: 0, running: [], results: [stray] });
}

const finished = { attempt: 1, exitCode: 0, signal: null, startedAtMs: 0, endedAtMs: 0, reason: null };

function die(world: JobWorld, agent: SimAgent): void {
  if (agent.dead) return;
  agent.dead = true;
  if (world.born < 8) startAgent(world);
}

/** The cluster says that it is gone; mostly of a dead one, sometimes by mistake of one that works on. */
function foundGone(world: JobWorld, agent: SimAgent): void {
  const { rules, state, books } = world;
  rules.loseInstance(state, agent.id, 'found gone', world.nowMs);
  books.lostInstances.add(agent.id);
  for (const [lease, held] of [...books.open]) if (held.instance === agent.id) loseInBooks(books, lease);
}

function cancel(world: JobWorld, code: string): void {
  if (!isAllOver(world.books)) world.met('cancel');
  const before = JSON.stringify(world.state);
  const wasOver = isAllOver(world.books);
  world.rules.cancelJob(world.state, { code, text: 'somebody asked for it', atMs: world.nowMs });
  cancelInBooks(world.books);
  if (wasOver) must(before === JSON.stringify(world.state), () => 'a cancel after the end must change nothing');
}

/** Continue-as-new: the state goes through JSON, and pages that are due go to the archive. */
function roll(world: JobWorld): void {
  const copy: JobState = JSON.parse(JSON.stringify(world.state));
  must(same(copy, world.state) && sameKeys(copy, world.state), () => 'the state is not plain JSON');
  world.state = copy;
  const due = world.rules.pageDue(copy);
  if (due === null) return;
  world.books.written.push(...due);
  world.rules.pageWritten(copy, due.length);
}

function sameKeys(left: object, right: object): boolean {
  return same(Object.keys(left), Object.keys(right));
}

/** The network works, one fresh agent is there: the job must come to its end within a bounded number of rounds. */
function calmDown(world: JobWorld, thawAtEnd: boolean): void {
  startAgent(world);
  for (const agent of world.agents) if (thawAtEnd) agent.frozen = false;
  for (let round = 0; !isAllOver(world.books); round += 1) {
    must(round < 150, () => `the job does not end: ${JSON.stringify(world.state)}`);
    const wakeMs = world.rules.nextWakeMs(world.state);
    must(wakeMs !== null || world.state.leases.length === 0, () => 'leases, and no time to look at them');
    for (const agent of world.agents) {
      talk(world, agent, 'answered');
      for (let n = 0; n < world.capacity; n += 1) work(world, agent, 0);
      if (agent.dead && round % 4 === 3) foundGone(world, agent);
      compareBooks(world.books, world.state, world.nowMs);
    }
    passTime(world, leaseMs / 3, false);
    compareBooks(world.books, world.state, world.nowMs);
  }
}

/** Whatever arrives afterwards, also from agents that slept through it all, changes nothing but counters. */
function afterTheEnd(world: JobWorld): void {
  for (const agent of world.agents) {
    agent.frozen = false;
    work(world, agent, 0);
    talk(world, agent, 'answered');
  }
  cancel(world, 'CANCELLED');
  for (const item of world.said.slice(0, 5)) deliver(world, item);
  for (let n = 0; world.rules.pageDue(world.state) !== null; n += 1) {
    must(n < 3, () => 'pages without an end');
    roll(world);
  }
  compareBooks(world.books, world.state, world.nowMs);
  must(world.state.page.length === 0, () => 'records were left in the state');
}
