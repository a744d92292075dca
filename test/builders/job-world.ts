// A simulated world of one job: agents that behave as real ones do, a network that loses, repeats and delays, outages of
// ours, instances that freeze and die. Every step is checked against books of its own (job-books.ts).
import fc from 'fast-check';

import { compareBooks, isAllOver, openBooks, taskIdAt } from './job-books.ts';
import {
  cancel,
  deliver,
  deliverStray,
  die,
  forget,
  foundGone,
  giveUpTurns,
  jobSubjects,
  type JobSubject,
  type JobWorld,
  leaseMs,
  roll,
  startAgent,
  talk,
  work,
} from './job-happenings.ts';
import { passTime } from './job-time.ts';
import type { JobRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick } from './worlds.ts';

const bornAtMs = 1_000_000;
/** Runs many worlds against the rules; throws when one breaks them. */
export function checkJobWorlds(rules: JobRules, options: CheckOptions): Record<string, number> {
  const run = (plan: JobPlan, met: Met<JobSubject>): void => runJobWorld(rules, plan, met);
  return checkWorlds({ plan: jobPlan, subjects: jobSubjects, run }, options);
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
  { weight: 6, arbitrary: fc.record({ do: fc.constant('roll') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const jobPlan = fc.record({
  tasks: fc.integer({ min: 1, max: 6 }),
  agents: fc.integer({ min: 1, max: 4 }),
  capacity: fc.integer({ min: 1, max: 3 }),
  takesTurns: fc.boolean(),
  retries: fc.nat(2),
  timeoutLeases: fc.constantFrom(null, null, 7),
  /** Whether what is frozen at the end ever wakes before the job is over. */
  thawAtEnd: fc.boolean(),
  steps: fc.array(step, { minLength: 15, maxLength: 50, size: 'max' }),
});
type JobPlan = typeof jobPlan extends fc.Arbitrary<infer T> ? T : never;

function runJobWorld(rules: JobRules, plan: JobPlan, met: Met<JobSubject>): void {
  const world = createWorld(rules, plan, met);
  for (const each of plan.steps) {
    take(world, each);
    noteWaiting(world);
    compareBooks(world.books, world.state, world.nowMs);
  }
  calmDown(world, plan.thawAtEnd);
  afterTheEnd(world);
  const { counters } = world.state;
  if (counters.lost > 0) met('loss');
  if (counters.retried > 0) met('retry');
}

/** Who has been given back holds nothing, ever again. */
function noteWaiting(world: JobWorld): void {
  const { state, nowMs, books } = world;
  if (state.requeued.length > 0 || state.nextFresh < state.settings.taskCount) world.waitedAtMs = nowMs;
  must(
    !state.leases.some((lease) => books.isReleased.has(lease.instance)),
    () => 'a lease for one that was given back',
  );
}

function createWorld(rules: JobRules, plan: JobPlan, met: Met<JobSubject>): JobWorld {
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
    takesTurns: plan.takesTurns,
    said: [],
    results: [],
    heardAtMs: new Map(),
    waitedAtMs: bornAtMs,
    met,
  };
  for (let n = 0; n < plan.agents; n += 1) startAgent(world);
  return world;
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
  else if (each.do === 'forget') forget(world, agent, each.times);
  else if (each.do === 'hand back') giveUpTurns(world, agent);
  else if (each.do === 'die') die(world, agent);
  else foundGone(world, agent, each.isOrderly);
}

/** The network works, one fresh agent is there: the job must come to its end within a bounded number of rounds. */
function calmDown(world: JobWorld, thawAtEnd: boolean): void {
  startAgent(world, true);
  for (const agent of world.agents) if (thawAtEnd) agent.frozen = false;
  for (let round = 0; !isAllOver(world.books); round += 1) {
    must(round < 150, () => `the job does not end: ${JSON.stringify(world.state)}`);
    const wakeMs = world.rules.nextWakeMs(world.state);
    must(wakeMs !== null || world.state.leases.length === 0, () => 'leases, and no time to look at them');
    for (const agent of world.agents) {
      talk(world, agent, 'answered');
      for (let n = 0; n < world.capacity; n += 1) work(world, agent, 0);
      if (agent.dead && round % 4 === 3) foundGone(world, agent, false);
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
