// The cost ledger against the emulated cloud's own: random runs in which instances die, are interrupted and never register,
// answers of launches and of the database are lost, and the acting process is killed. Equal to the second and to the cent.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { applyReport, applyTerminated } from '../../domain/cluster/apply.ts';
import { totalCost } from '../../domain/cost/amount.ts';
import type { CostInterval } from '../../domain/cost/interval.ts';
import { addUnknown, forgetWritten } from '../../domain/cost/ledger.ts';
import { scaleCluster } from '../../domain/cluster/requests.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { viewCluster } from '../../views/cluster.ts';
import { startCloud } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { addWorkspace } from '../store/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createRandom } from '../support/random.ts';
import { ec2 } from '../support/clouds.ts';
import { createEc2Cluster } from './cluster.ts';
import type { Ec2Cluster } from './cluster.ts';
import { dollars } from '../clouds/money.ts';

const runs = 2;

describe('the cost ledger', () => {
  let cloud: TestCloud;
  let store: Store;
  let workspace: string;
  beforeEach(async () => {
    cloud = await startCloud();
    store = await openMemoryStore();
    workspace = (await addWorkspace(store)).slug;
  });
  afterEach(async () => {
    await store.close();
    await cloud.close();
  });

  for (let seed = 1; seed <= runs; seed += 1) {
    it(`has every instance of the cloud, with its times and its price (run ${seed})`, async () => {
      const random = createRandom(seed * 0x9e3779b9);
      const market = random() < 0.5 ? 'spot' : 'on-demand';
      const settings = { ...cloud.options.settings, assignPublicIps: random() < 0.5 };
      const provider = createAwsProvider({ ...cloud.options, settings });
      const cluster = createEc2Cluster(
        { ...cloud, provider },
        {
          instances: 4,
          machines: { spotPolicy: market === 'spot' ? 'spot' : 'on-demand' },
          launched: (each, fresh) => fresh.forEach((one) => (random() < 0.8 ? each.register(one) : undefined)),
          watch: (each) => write(each, random),
        },
      );
      await cluster.settle();
      for (let step = 0; step < 12; step += 1) {
        const { instances } = cluster.state;
        const victim = instances[Math.floor(random() * instances.length)];
        if (random() < 0.3)
          scaleCluster(cluster.state, 1 + Math.floor(random() * 6), cluster.nowMs(), { by: 'u', seq: step });
        if (victim !== undefined && random() < 0.4) {
          await cloud.emulator.send({ op: 'die', id: victim.id });
          cluster.suspect([victim.id]);
        }
        await cluster.advance(1_000 * Math.floor(random() * 900));
        await cluster.settle();
      }
      await cluster.stop();
      const [, remains] = [await write(cluster, () => 1), await cloud.emulator.ledger()];
      expect(remains.live).toEqual([]);
      const ledger = (await store.costs.ofClusters([cluster.state.number])).get(cluster.state.number) ?? [];
      expectEqual(ledger, remains.entries);
      const cents = (amount: number): number => Math.round(amount * 100);
      const withoutDisks = ledger.map((entry) => ({ ...entry, diskMicrosPerHour: 0 }));
      const nowMs = cluster.nowMs();
      expect(cents(totalCost(withoutDisks, nowMs) / 1e6)).toBe(cents(dollars(ec2, remains.entries, nowMs)));
    });
  }

  it('has instances of a launch whose answer was lost', async () => {
    const { provider } = cloud;
    const cluster = createEc2Cluster(cloud, { instances: 2 });
    await cluster.settle();
    const owner = { deploymentId: 'd_test', workspace: 'default', cluster: cluster.state.number };
    const ids = cluster.state.instances.map(({ id }) => id);
    await provider.terminate(owner, ids, AbortSignal.timeout(60_000));
    const atLaunch = cluster.state.costs.map(({ diskMicrosPerHour }) => diskMicrosPerHour);
    const lifetimes = (await provider.lifetimes?.(owner, ids, { head: 30, worker: 30 })) ?? [];
    // As if its launches had never been applied.
    Object.assign(cluster.state, { instances: [], costs: [] });
    addUnknown(cluster.state, lifetimes, cluster.nowMs());
    expectEqual(cluster.state.costs, (await cloud.emulator.ledger()).entries);
    expect(cluster.state.costs.every(({ microsPerHour }) => microsPerHour > 0)).toBe(true);
    expect(cluster.state.costs.map(({ addressMicrosPerHour }) => addressMicrosPerHour)).toEqual([5_000, 5_000]);
    expect(cluster.state.costs.map(({ diskMicrosPerHour }) => diskMicrosPerHour)).toEqual(atLaunch);
  });

  it('has the spot price of each hour at its beginning, as EC2 charges it', async () => {
    const cluster = createEc2Cluster(cloud, { instances: 2, machines: { spotPolicy: 'spot' } });
    await cluster.settle();
    const worker = cluster.state.instances.find(({ role }) => role === 'worker');
    if (worker === undefined) throw new Error('no worker');
    for (const each of cluster.state.instances) cluster.register(each);
    const pool = `${worker.offer}/${worker.zone}`;
    const atLaunch = worker.price.microsPerHour;
    const move = async (minutes: number, pricePerHour: number): Promise<void> => {
      await cloud.emulator.send({ op: 'advance', ms: minutes * 60_000 });
      await cloud.emulator.send({ op: 'spotPrice', pool, pricePerHour });
    };
    await move(20, 0.9);
    await move(10, 0.05);
    await move(40, 0.07);
    await cloud.emulator.send({ op: 'advance', ms: 80 * 60_000 });
    const owner = { deploymentId: 'd_test', workspace: 'default', cluster: cluster.state.number };
    const charges = await cloud.provider.charges?.(owner, [worker.id]);
    await cloud.provider.terminate(owner, [worker.id], AbortSignal.timeout(60_000));
    const [lifetime] = (await cloud.provider.lifetimes?.(owner, [worker.id], { head: 30, worker: 30 })) ?? [];
    const hourMs = 3_600_000;
    const fromMs = lifetime?.launchedAtMs ?? 0;
    expect(lifetime?.price).toMatchObject({
      microsPerHour: atLaunch,
      source: `spot prices of ${worker.zone} by the hour`,
    });
    expect(lifetime?.later).toEqual([
      { fromMs: fromMs + hourMs, microsPerHour: 50_000 },
      { fromMs: fromMs + 2 * hourMs, microsPerHour: 70_000 },
    ]);
    // The same while it exists.
    const { microsPerHour, source } = lifetime?.price ?? {};
    expect(charges).toEqual([{ id: worker.id, microsPerHour, source, later: lifetime?.later }]);
    expect(worker.later).toEqual([]);
    applyTerminated(cluster.state, [worker.id], cluster.nowMs(), lifetime === undefined ? [] : [lifetime]);
    const view = { ...viewCluster(cluster.state, inputOf(cluster.state.number)), workspace, endedAtMs: null };
    await store.clusters.project({ view, version: 1, nowMs: cluster.nowMs() });
    const [entry] =
      (await store.costs.ofClusters([cluster.state.number]))
        .get(cluster.state.number)
        ?.filter(({ instance }) => instance === worker.id) ?? [];
    const { entries } = await cloud.emulator.ledger();
    const ended = entries.find(({ id, event }) => id === worker.id && event === 'ended')?.atMs ?? 0;
    // EC2 reports ends in whole seconds.
    expect(Math.abs((entry?.toMs ?? 0) - ended)).toBeLessThan(1_000);
    const lastSeconds = Math.ceil(((entry?.toMs ?? 0) - fromMs - 2 * hourMs) / 1_000);
    const charged = atLaunch + 50_000 + (70_000 * lastSeconds) / 3_600;
    const own = { ...entry, diskMicrosPerHour: 0, addressMicrosPerHour: 0 } as CostInterval;
    expect(Math.abs(totalCost([own], ended + 1_000) - charged)).toBeLessThan(1);
    await cluster.stop();
  });

  it('of an interrupted spot instance begins with its launch, and ends at the time that was announced', async () => {
    const cluster = createEc2Cluster(cloud, { instances: 2, machines: { spotPolicy: 'spot' } });
    await cluster.settle();
    const worker = cluster.state.instances.find(({ role }) => role === 'worker');
    if (worker === undefined) throw new Error('no worker');
    cluster.register(worker);
    const { id } = worker;
    // Its launch was requested long before it was carried out.
    worker.stages.requestedAtMs -= 600_000;
    const atMs = Math.ceil(cluster.nowMs() / 1_000) * 1_000 + 120_000;
    const interruption = { kind: 'terminate' as const, at: new Date(atMs).toISOString() };
    const said = { instance: id, bootId: `boot of ${id}`, kind: 'alive' as const, address: '10.0.0.1', interruption };
    applyReport(cluster.state, said, cluster.nowMs());
    await cloud.emulator.send({ op: 'interrupt', id, inMs: atMs - cluster.nowMs() });
    await cluster.advance(121_000);
    await eventually(async () => !(await cloud.emulator.ledger()).live.includes(id) || null);
    await cluster.advance(600_000);
    await cluster.settle();
    const [launched] = (await cloud.emulator.ledger()).entries.filter((each) => each.id === id);
    const entry = cluster.state.costs.find(({ instance }) => instance === id);
    expect(Math.abs((entry?.fromMs ?? 0) - (launched?.atMs ?? 0))).toBeLessThan(1_000);
    expect(entry?.toMs).toBe(atMs);
    await cluster.stop();
  });

  /** As in the workflow: a written entry leaves the state only after the database's answer, which may be lost. */
  async function write(cluster: Ec2Cluster, random: () => number): Promise<void> {
    const { state } = cluster;
    const written = [...state.costs];
    if (random() < 0.2) return;
    const view = { ...viewCluster(state, inputOf(state.number)), workspace, endedAtMs: null };
    await store.clusters.project({ view, version: 1, nowMs: cluster.nowMs() });
    if (random() >= 0.2) forgetWritten(state, written);
  }
});

const inputOf = (number: number) => ({
  ...{ number, workspace: 'default', admissionId: 'a', user: 'u', deploymentId: 'd_test' },
  ...{ settings: null, specRef: null, name: 'c' },
});

function expectEqual(
  ledger: readonly CostInterval[],
  entries: readonly { id: string; event: string; atMs: number; type: string; zone: string; market: string }[],
): void {
  const launched = entries.filter(({ event }) => event === 'launched');
  expect(ledger.map(({ instance }) => instance).toSorted()).toEqual(launched.map(({ id }) => id).toSorted());
  for (const { id, atMs, type, zone, market } of launched) {
    const entry = ledger.find(({ instance }) => instance === id);
    const endedAtMs = entries.find((each) => each.event === 'ended' && each.id === id)?.atMs ?? 0;
    expect(entry).toMatchObject({ type, zone, market });
    // EC2 reports ends in whole seconds.
    expect(Math.abs((entry?.fromMs ?? 0) - atMs)).toBeLessThan(1_000);
    expect(Math.abs((entry?.toMs ?? 0) - endedAtMs)).toBeLessThan(1_000);
  }
}
