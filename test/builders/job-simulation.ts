// A simulation of one job: agents that behave as real ones do, a network that loses, repeats and delays messages, outages of the control plane,
// instances that freeze and die. Every step is checked against independent books (job-books.ts).
import fc from 'fast-check';

import { compareBooks, isAllOver, openBooks, taskIdAt } from './job-books.ts';
import {
  cancel,
  deliver,
  deliverForeign,
  die,
  forget,
  foundGone,
  giveUpTurns,
  jobSubjects,
  type JobSubject,
  type JobSimulation,
  leaseMs,
  continueAsNew,
  startAgent,
  talk,
  work,
} from './job-happenings.ts';
import { passTime } from './job-time.ts';
import type { JobRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, pick } from './simulations.ts';

const bornAtMs = 1_000_000;
/** Runs many simulations against the rules; throws when one breaks them. */
export function checkJobSimulations(rules: JobRules, options: CheckOptions): Record<string, number> {
  const run = (plan: JobPlan, met: Met<JobSubject>): void => runJobSimulation(rules, plan, met);
  return checkSimulations({ plan: jobPlan, subjects: jobSubjects, run }, options);
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
  { weight: 6, arbitrary: fc.record({ do: fc.constant('foreign result'), result: fc.nat(20), agent: agentNumber }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('freeze'), agent: agentNumber }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('thaw'), agent: agentNumber }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('forget'), agent: agentNumber, times: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('hand back'), agent: agentNumber }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('die'), agent: agentNumber }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('found gone'), agent: agentNumber, isOrderly: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel'), code: fc.constantFrom('CANCELLED', 'NO_INSTANCES') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('outage'), leases: fc.integer({ min: 2, max: 20 }), work: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const jobPlan = fc.record({
  tasks: fc.integer({ min: 1, max: 6 }),
  agents: fc.integer({ min: 1, max: 4 }),
  capacity: fc.integer({ min: 1, max: 3 }),
  takesTurns: fc.boolean(),
  retries: fc.nat(2),
  timeoutLeases: fc.constantFrom(null, null, 7),
  /** Whether agents that are frozen at the end wake before the job has ended. */
  thawAtEnd: fc.boolean(),
  steps: fc.array(step, { minLength: 15, maxLength: 50, size: 'max' }),
});
type JobPlan = typeof jobPlan extends fc.Arbitrary<infer T> ? T : never;

function runJobSimulation(rules: JobRules, plan: JobPlan, met: Met<JobSubject>): void {
  const sim = createSimulation(rules, plan, met);
  for (const each of plan.steps) {
    take(sim, each);
    noteWaiting(sim);
    compareBooks(sim.books, sim.state, sim.nowMs);
  }
  calmDown(sim, plan.thawAtEnd);
  afterTheEnd(sim);
  const { counters } = sim.state;
  if (counters.lost > 0) met('loss');
  if (counters.retried > 0) met('retry');
}

/** A released instance never holds a lease again. */
function noteWaiting(sim: JobSimulation): void {
  const { state, nowMs, books } = sim;
  if (state.requeued.length > 0 || state.nextFresh < state.settings.taskCount) sim.waitedAtMs = nowMs;
  must(!state.leases.some((lease) => books.isReleased.has(lease.instance)), () => 'a lease for a released instance');
}

function createSimulation(rules: JobRules, plan: JobPlan, met: Met<JobSubject>): JobSimulation {
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
  const sim: JobSimulation = {
    rules,
    state: rules.createJobState({ number: 1, workspace: 'w', submittedAtMs: bornAtMs }, settings),
    books: openBooks(plan.tasks, plan.retries),
    nowMs: bornAtMs,
    agents: [],
    born: 0,
    capacity: plan.capacity,
    takesTurns: plan.takesTurns,
    said: [],
    results: [],
    heardAtMs: new Map(),
    waitedAtMs: bornAtMs,
    met,
  };
  for (let n = 0; n < plan.agents; n += 1) startAgent(sim);
  return sim;
}

function take(sim: JobSimulation, each: Step): void {
  if (each.do === 'talk') return talk(sim, pick(sim.agents, each.agent), each.fate);
  if (each.do === 'work') return work(sim, pick(sim.agents, each.agent), each.exitCode);
  if (each.do === 'wait') return passTime(sim, each.thirds * (leaseMs / 3), false);
  if (each.do === 'late') {
    const copy = pick(sim.said, each.copy);
    return copy === undefined ? undefined : void deliver(sim, copy);
  }
  if (each.do === 'foreign result')
    return deliverForeign(sim, pick(sim.results, each.result), pick(sim.agents, each.agent));
  if (each.do === 'cancel') return cancel(sim, each.code);
  if (each.do === 'outage') {
    if (each.work) for (const agent of sim.agents) work(sim, agent, 0);
    return passTime(sim, each.leases * leaseMs, true);
  }
  if (each.do === 'continue as new') return continueAsNew(sim);
  const agent = pick(sim.agents, each.agent);
  if (agent === undefined) return;
  if (each.do === 'freeze') agent.frozen = true;
  else if (each.do === 'thaw') agent.frozen = false;
  else if (each.do === 'forget') forget(sim, agent, each.times);
  else if (each.do === 'hand back') giveUpTurns(sim, agent);
  else if (each.do === 'die') die(sim, agent);
  else foundGone(sim, agent, each.isOrderly);
}

/** The network works and one fresh agent starts: the job must end within a bounded number of rounds. */
function calmDown(sim: JobSimulation, thawAtEnd: boolean): void {
  startAgent(sim, true);
  for (const agent of sim.agents) if (thawAtEnd) agent.frozen = false;
  for (let round = 0; !isAllOver(sim.books); round += 1) {
    must(round < 150, () => `the job does not end: ${JSON.stringify(sim.state)}`);
    const wakeMs = sim.rules.nextWakeMs(sim.state);
    must(wakeMs !== null || sim.state.leases.length === 0, () => 'leases, and no time to check them');
    for (const agent of sim.agents) {
      talk(sim, agent, 'answered');
      for (let n = 0; n < sim.capacity; n += 1) work(sim, agent, 0);
      if (agent.dead && round % 4 === 3) foundGone(sim, agent, false);
      compareBooks(sim.books, sim.state, sim.nowMs);
    }
    passTime(sim, leaseMs / 3, false);
    compareBooks(sim.books, sim.state, sim.nowMs);
  }
}

/** Late arrivals, including those of agents that were frozen throughout, change only counters. */
function afterTheEnd(sim: JobSimulation): void {
  for (const agent of sim.agents) {
    agent.frozen = false;
    work(sim, agent, 0);
    talk(sim, agent, 'answered');
  }
  cancel(sim, 'CANCELLED');
  for (const item of sim.said.slice(0, 5)) deliver(sim, item);
  for (let n = 0; sim.rules.pageDue(sim.state) !== null; n += 1) {
    must(n < 3, () => 'pages without an end');
    continueAsNew(sim);
  }
  compareBooks(sim.books, sim.state, sim.nowMs);
  must(sim.state.page.length === 0, () => 'records were left in the state');
}
