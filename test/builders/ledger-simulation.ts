// A simulation of one cluster and its cost ledger: the real rules decide and book, the emulated cloud launches, ends and bills. Answers of the cloud
// and of the database are lost as if the calling process was killed, arrive late or reordered; instances die, are interrupted, and never register;
// the control plane is stopped for hours.
import fc from 'fast-check';

import { applyLaunch, applyReport, applyTerminated } from '../../domain/cluster/apply.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { applyInspection, suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import { intend, planCluster, type Decision } from '../../domain/cluster/plan.ts';
import { scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import type { CostInterval } from '../../domain/cost/interval.ts';
import { addUnknown, forgetWritten } from '../../domain/cost/ledger.ts';
import { createLedgerCloud, type LedgerCloud } from './ledger-cloud.ts';
import { pick } from './simulations.ts';

/** Writes the entries of a cluster to the database, in any order. */
export type WriteCosts = (costs: readonly CostInterval[]) => Promise<void>;

export interface LedgerRun {
  cloud: LedgerCloud;
  /** EC2 reported no end time, or no longer lists the instance: the ledger has the control plane's own time. */
  unnamed: ReadonlySet<string>;
  /** The state's `maxCost` total before it looked for instances that no launch had returned. */
  endedMicros: number;
  /** The instances found by that search. */
  found: ReadonlySet<string>;
  met: Set<LedgerSubject>;
}

export const ledgerSubjects = [
  ...(['lost launch', 'lost termination', 'lost write', 'late write', 'death', 'interruption'] as const),
  ...(['unregistered', 'unknown instance', 'outage', 'still listed', 'price change'] as const),
] as const;
export type LedgerSubject = (typeof ledgerSubjects)[number];

type Effect = Extract<Decision, { kind: 'launch' | 'terminate' | 'inspect' }>;

const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('answer'),
      effect: fc.nat(3),
      how: fc.constantFrom('full', 'full', 'full', 'part', 'hidden', 'lost'),
    }),
  },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('register'), which: fc.integer({ min: 1, max: 63 }) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('die'), instance: fc.nat(5), isHeard: fc.boolean() }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('interrupt'), instance: fc.nat(5), inMs: fc.nat(150_000) }) },
  { weight: 25, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat(700_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('outage'), ms: fc.nat(3 * 3_600_000) }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('write'),
      how: fc.constantFrom('taken', 'taken', 'lost', 'refused', 'late'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('scale'), to: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export const ledgerPlan = fc.record({
  instances: fc.integer({ min: 1, max: 6 }),
  policy: fc.constantFrom('spot', 'on-demand', 'spot_with_fallback'),
  hasAddress: fc.boolean(),
  /** How long terminated instances are listed. */
  shutdownMs: fc.constantFrom(0, 5_000, 60_000),
  startMs: fc.nat(86_400_000),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
});
export type LedgerPlan = typeof ledgerPlan extends fc.Arbitrary<infer T> ? T : never;

interface Simulation {
  state: ClusterState;
  cloud: LedgerCloud;
  effects: Effect[];
  write: WriteCosts;
  late: (readonly CostInterval[])[];
  unnamed: Set<string>;
  met: Set<LedgerSubject>;
  setTime: (ms: number) => void;
}

/** `setTime` sets `Date.now()`. */
export async function runLedger(
  { instances, policy, hasAddress, shutdownMs, startMs, steps }: LedgerPlan,
  { write, setTime }: Pick<Simulation, 'write' | 'setTime'>,
): Promise<LedgerRun> {
  setTime(1_790_000_000_000 + startMs);
  const zones = ['us-east-1a', 'us-east-1b'];
  const types = {
    workerTypes: ['g4dn.xlarge', 'm6i.large'],
    headTypes: ['m6i.large'],
    architecture: 'x86_64',
  } as const;
  const machines = { spotPolicy: policy, region: 'us-east-1', zones, allowCrossZone: false, diskGib: 30 } as const;
  const state = createClusterState(
    { number: 1, workspace: 'w', user: 'u', createdAtMs: Date.now() },
    {
      ...{ name: 'c', job: 1, instances, provider: 'aws', providerQueue: 'aws', instanceVcpus: 2, dask: null },
      ...{
        registerTimeoutMs: 600_000,
        machines: { ...types, workerTypes: [...types.workerTypes], headTypes: ['m6i.large'], ...machines },
      },
    },
  );
  const sim: Simulation = {
    ...{ state, effects: [], late: [], unnamed: new Set(), met: new Set(), write, setTime },
    cloud: createLedgerCloud({ hasAddress, shutdownMs }),
  };
  decide(sim);
  for (const each of steps) {
    await take(sim, each);
    decide(sim);
  }
  const { cloud, unnamed, met } = sim;
  return { cloud, unnamed, met, ...(await end(sim)) };
}

function decide({ state, effects }: Simulation): void {
  for (;;) {
    const { decisions } = planCluster(state, Date.now());
    if (decisions.length === 0) return;
    for (const decision of decisions) {
      intend(state, decision, Date.now());
      if (decision.kind === 'launch' || decision.kind === 'terminate' || decision.kind === 'inspect')
        effects.push(decision);
    }
  }
}

async function take(sim: Simulation, each: Step): Promise<void> {
  const { state, cloud, met } = sim;
  switch (each.do) {
    case 'answer':
      return answer(sim, pick(sim.effects, each.effect), each.how);
    case 'register':
      return state.instances.filter((_, at) => (each.which >> at) % 2 === 1).forEach(({ id }) => report(sim, id));
    case 'die': {
      const victim = pick(state.instances, each.instance);
      if (victim === undefined || cloud.isGone(victim.id)) return;
      cloud.die(victim.id);
      met.add('death');
      return each.isHeard
        ? suspectInstances(state, [{ instance: victim.id, heardAtMs: Date.now() }], Date.now())
        : undefined;
    }
    case 'interrupt': {
      const victim = pick(state.instances, each.instance);
      // EC2 announces whole seconds.
      const atMs = Math.ceil((Date.now() + each.inMs) / 1_000) * 1_000;
      if (victim === undefined || !cloud.interrupt(victim.id, atMs)) return;
      met.add('interruption');
      return report(sim, victim.id, atMs);
    }
    case 'outage':
      met.add('outage');
      return wait(sim, each.ms);
    case 'wait':
      return wait(sim, each.ms);
    case 'write':
      return write(sim, each.how);
    case 'scale':
      return scaleCluster(state, each.to, Date.now());
    case 'continue as new':
      sim.state = JSON.parse(JSON.stringify(state));
  }
}

/** The agent's report: alive or interrupted. An ended instance reports nothing. */
function report({ state, cloud }: Simulation, id: string, terminatesAtMs?: number): void {
  const known = state.instances.find((instance) => instance.id === id);
  if (known === undefined || cloud.isGone(id)) return;
  const said = { instance: id, bootId: `boot of ${id}`, address: '10.0.0.1' };
  if (terminatesAtMs === undefined) return void applyReport(state, { ...said, kind: 'register' }, Date.now());
  const interruption = { kind: 'terminate' as const, at: new Date(terminatesAtMs).toISOString() };
  applyReport(state, { ...said, kind: 'alive', interruption }, Date.now());
}

function wait({ cloud, setTime }: Simulation, ms: number): void {
  const untilMs = Date.now() + ms;
  for (let nextMs = cloud.nextEndMs(); nextMs !== null && nextMs <= untilMs; nextMs = cloud.nextEndMs()) {
    setTime(Math.max(Date.now(), nextMs));
    cloud.takeBack();
  }
  setTime(untilMs);
}

/** `lost`: the call takes effect, its answer never arrives, and the effect remains pending. `hidden`: one instance is missing from the answer. */
function answer(sim: Simulation, effect: Effect | undefined, how: string): void {
  const { state, cloud, met, effects, unnamed } = sim;
  if (effect === undefined) return;
  const isLost = how === 'lost';
  if (!isLost) effects.splice(effects.indexOf(effect), 1);
  if (effect.kind === 'launch') {
    const count = effect.slots.length;
    const outcome = cloud.launch(effect, how === 'part' ? count - 1 : count, how === 'hidden' ? count - 1 : count);
    if (isLost) met.add('lost launch');
    else applyLaunch(state, effect.seq, outcome, Date.now());
    return;
  }
  if (effect.kind === 'inspect') {
    const seen = effect.ids.map((id) => ({ id, state: cloud.isGone(id) ? ('gone' as const) : ('alive' as const) }));
    if (!isLost) applyInspection(state, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 }, Date.now());
    return;
  }
  cloud.terminate(effect.ids);
  if (isLost) return void met.add('lost termination');
  const lifetimes = cloud.lifetimes(effect.ids);
  for (const { id, agent } of state.instances.filter((instance) => effect.ids.includes(instance.id))) {
    if (agent === null) met.add('unregistered');
    const lifetime = lifetimes.find((each) => each.id === id);
    const isNamed = lifetime !== undefined && (lifetime.endedAtMs ?? agent?.terminatesAtMs ?? null) !== null;
    if (!isNamed) unnamed.add(id);
  }
  applyTerminated(state, effect.ids, Date.now(), lifetimes);
}

/** As in the workflow, an entry leaves the state only after a write with that entry was acknowledged. */
async function write({ state, write: store, late, met }: Simulation, how: string): Promise<void> {
  const costs: CostInterval[] = JSON.parse(JSON.stringify(state.costs));
  if (how === 'refused') return;
  if (how === 'late') {
    late.push(costs);
    met.add('late write');
    return;
  }
  await store(costs);
  if (how === 'lost') met.add('lost write');
  else forgetWritten(state, costs);
}

/** The cluster stops, terminates all instances that carry its tags, and writes until the database has every entry. */
async function end(sim: Simulation): Promise<Pick<LedgerRun, 'endedMicros' | 'found'>> {
  const { cloud, met, late, write: store } = sim;
  stopCluster(sim.state, { code: 'STOPPED', text: 'the simulation has ended', atMs: Date.now() });
  for (let rounds = 0; !planCluster(sim.state, Date.now()).done || sim.effects.length > 0; rounds += 1) {
    if (rounds > 200) throw new Error(`the cluster does not end: ${JSON.stringify(sim.state)}`);
    decide(sim);
    answer(sim, sim.effects[0], 'full');
    wait(sim, 1_000);
  }
  const remains = cloud.list();
  const known = new Set(sim.state.costs.map(({ instance }) => instance));
  if (remains.some((id) => known.has(id))) met.add('still listed');
  const found = new Set(remains.filter((id) => !cloud.isGone(id)));
  const { endedMicros = 0 } = sim.state;
  cloud.terminate(remains);
  addUnknown(sim.state, cloud.lifetimes(remains), Date.now());
  const costs = [...sim.state.costs];
  const [first, ...others] = late;
  if (first !== undefined) await store(first);
  await store(costs);
  // The most delayed writes may arrive after the last write.
  for (const each of others) await store(each);
  if (found.size > 0) met.add('unknown instance');
  return { endedMicros, found };
}
