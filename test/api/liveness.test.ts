// How replicas of the API record the agents' reports and find silent agents, on the real store.
import { beforeEach, describe, expect, it } from 'vitest';

import { silentAfterMs } from '../../domain/liveness/limits.ts';
import { heardAgainWithinMs, listeningOfAllMs } from '../../domain/liveness/replicas.ts';
import { createHeardAgents } from '../../services/liveness/heard.ts';
import { createLivenessRounds } from '../../services/liveness/round.ts';
import { clusterWithWorkers } from './dask-support.ts';
import { createTestApi } from './support.ts';

type TestApi = Awaited<ReturnType<typeof createTestApi>>;

/** A replica with clocks that a test advances, together with the database's. `aheadMs`: the offset of the replica host's wall clock. */
function createReplica(api: TestApi, { name = 'first', aheadMs = 0 } = {}) {
  const clocks = { monotonicMs: 1_000, wallMs: 1_900_000_000_000 };
  api.database.now = () => clocks.wallMs - aheadMs;
  const heard = createHeardAgents(() => ({ ...clocks }));
  const { listen, suspect, end } = createLivenessRounds(() => ({ ...clocks }), name);
  const deps = { ...api.deps, heard };
  const round = async (): Promise<void> => {
    await listen(deps);
    await suspect(deps);
  };
  const pass = async (ms: number, during: () => void = () => undefined): Promise<void> => {
    for (let left = ms; left > 0; left -= 1_000) {
      clocks.monotonicMs += 1_000;
      clocks.wallMs += 1_000;
      during();
      await round();
    }
  };
  /** It has been up long enough for agents to reconnect. */
  const settle = (): Promise<void> => pass(heardAgainWithinMs);
  const listeningMs = async (): Promise<number> => listeningOfAllMs(await api.deps.store.liveness.replicas());
  const own = { listen: () => listen(deps), suspect: () => suspect(deps), end: () => end(deps) };
  return { clocks, heard, round, pass, settle, listeningMs, ...own };
}

describe('a replica of the API', () => {
  let api: TestApi;
  let number = 0;
  let ids: [string, string] = ['', ''];
  const signals = (): string[] => api.workflows.calls.filter((call) => call.includes('cluster.suspect'));
  beforeEach(async () => {
    api = await createTestApi();
    const cluster = await clusterWithWorkers(api, 1);
    number = cluster.number;
    ids = [cluster.head.id, cluster.others[0]?.id ?? ''];
    api.workflows.calls.length = 0;
  });

  it('suspects an agent that falls silent, once, and none that speaks', async () => {
    const { heard, pass, settle } = createReplica(api);
    await settle();
    for (const id of ids) heard.touch(number, id, 9_000);
    await pass(8_000, () => heard.touch(number, ids[0]));
    expect(signals()).toEqual([]);
    await pass(2_000, () => heard.touch(number, ids[0]));
    expect(signals()).toEqual([`signal cluster/${number} cluster.suspect`]);
    const { instances } = api.workflows.clusters.get(number) ?? { instances: [] };
    expect(instances).toMatchObject([
      { id: ids[0], suspicion: null },
      { id: ids[1], suspicion: { inspection: 'wanted' } },
    ]);
    await pass(60_000, () => heard.touch(number, ids[0]));
    expect(signals()).toHaveLength(1);
  });

  it('writes to the database at most every eighth of the silence that counts, and asks no workflow', async () => {
    const { heard, pass } = createReplica(api);
    let writes = 0;
    const { liveness } = api.deps.store;
    api.deps.store.liveness = {
      ...liveness,
      note: (items) => {
        writes += 1;
        return liveness.note(items);
      },
    };
    await pass(240_000, () => heard.touch(number, ids[0], silentAfterMs));
    expect(writes).toBeGreaterThan(10);
    expect(writes).toBeLessThanOrEqual(17);
    expect(api.workflows.calls).toEqual([]);
  });

  it('suspects no instance after its own restart until agents have had time to come back to it', async () => {
    const first = createReplica(api);
    for (const id of ids) first.heard.touch(number, id, 9_000);
    await first.pass(1_000);
    const second = createReplica(api);
    second.clocks.wallMs = first.clocks.wallMs + 3_600_000;
    await second.pass(8_000);
    expect(signals()).toEqual([]);
    for (const id of ids) second.heard.touch(number, id);
    await second.pass(20_000);
    expect(signals()).toEqual([]);
    await second.pass(3_000);
    expect(signals()).toHaveLength(1);
  });

  it('does not count its own sleep or an outage of the database as silence', async () => {
    const { clocks, heard, pass, round } = createReplica(api);
    for (const id of ids) heard.touch(number, id, 9_000);
    await pass(5_000);
    clocks.monotonicMs += 600_000;
    clocks.wallMs += 600_000;
    await round();
    expect(signals()).toEqual([]);
    for (const id of ids) heard.touch(number, id);
    const { liveness } = api.deps.store;
    api.deps.store.liveness = { ...liveness, note: () => Promise.reject(new Error('unavailable')) };
    await pass(60_000, () => ids.forEach((id) => heard.touch(number, id)));
    api.deps.store.liveness = liveness;
    await pass(8_000, () => ids.forEach((id) => heard.touch(number, id)));
    expect(signals()).toEqual([]);
  });

  it('forgets agents that their cluster does not count on, and those of a cluster that has ended', async () => {
    const { heard, pass, settle } = createReplica(api);
    await settle();
    heard.touch(number, 'i_gone', 9_000);
    heard.touch(number + 1_000, 'i_of_nothing', 9_000);
    await pass(11_000);
    expect(signals()).toEqual([]);
    expect(await api.deps.store.liveness.read(number, ['i_gone'])).toEqual([]);
    expect(await api.deps.store.liveness.read(number + 1_000, ['i_of_nothing'])).toEqual([]);
  });

  it('goes on listening while clusters answer slowly', async () => {
    const held = Promise.withResolvers<void>();
    const before = api.deps.workflows;
    api.deps.workflows = {
      ...before,
      query: async <O, I>(workflowId: string, name: string, input?: I) => {
        await held.promise;
        return before.query<O, I>(workflowId, name, input);
      },
    };
    const { clocks, heard, pass, settle, listen, suspect } = createReplica(api);
    await settle();
    for (const id of ids) heard.touch(number, id, 9_000);
    await listen();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      clocks.monotonicMs += 1_000;
      clocks.wallMs += 1_000;
      await listen();
    }
    const slow = suspect();
    for (let seconds = 0; seconds < 30; seconds += 1) {
      clocks.monotonicMs += 1_000;
      clocks.wallMs += 1_000;
      await listen();
    }
    held.resolve();
    await slow;
    expect(signals()).toHaveLength(1);
    const other = await clusterWithWorkers(api, 1);
    heard.touch(other.number, other.head.id, 9_000);
    await pass(11_000);
    // Without a gap in its listening, the next silence is found as soon as it counts.
    expect(signals()).toContain(`signal cluster/${other.number} cluster.suspect`);
  });

  it('does not call an agent heard whose message did not reach its cluster', async () => {
    const { heard, pass } = createReplica(api);
    heard.touch(number, ids[0], 9_000);
    await pass(5_000, () => heard.touch(number, ids[0]));
    heard.interrupt(number, ids[0]);
    await pass(1_000);
    const [row] = await api.deps.store.liveness.read(number, [ids[0]]);
    expect(row?.sinceMs).toBeGreaterThan((row?.heardAtMs ?? 0) - 1_000);
  });

  it('says that it listens, and since when, until it ends', async () => {
    const { pass, end, listeningMs } = createReplica(api);
    await pass(60_000);
    expect(await listeningMs()).toBeGreaterThanOrEqual(58_000);
    await end();
    expect(await api.deps.store.liveness.replicas()).toEqual([]);
  });

  it.each([-3_600_000, 60_000])('says so when the clock of its host is %i ms ahead', async (aheadMs) => {
    const { pass, listeningMs } = createReplica(api, { aheadMs });
    await pass(60_000);
    expect(await listeningMs()).toBeGreaterThanOrEqual(58_000);
    expect(await listeningMs()).toBeLessThanOrEqual(60_000);
  });

  it('does not say that it listens while it cannot write what it hears', async () => {
    const { heard, pass, listeningMs } = createReplica(api);
    await pass(60_000);
    const { liveness } = api.deps.store;
    api.deps.store.liveness = { ...liveness, note: () => Promise.reject(new Error('unavailable')) };
    await pass(60_000, () => heard.touch(number, ids[0]));
    api.deps.store.liveness = liveness;
    expect(await listeningMs()).toBe(0);
    await pass(20_000, () => heard.touch(number, ids[0]));
    expect(await listeningMs()).toBeLessThanOrEqual(20_000);
    expect(await listeningMs()).toBeGreaterThan(0);
  });

  it('takes over the row of the process that it replaces', async () => {
    const first = createReplica(api);
    await first.pass(60_000);
    const second = createReplica(api);
    second.clocks.wallMs = first.clocks.wallMs + 60_000;
    await second.pass(1_000);
    expect(await second.listeningMs()).toBeLessThanOrEqual(1_000);
    expect(await api.deps.store.liveness.replicas()).toHaveLength(1);
  });

  it('tries again when Temporal is unavailable', async () => {
    const { heard, pass, settle } = createReplica(api);
    await settle();
    heard.touch(number, ids[1], 9_000);
    api.workflows.control.isUnavailable = true;
    await pass(11_000);
    api.workflows.control.isUnavailable = false;
    expect(signals()).toEqual([]);
    await pass(62_000);
    expect(signals()).toHaveLength(1);
  });
});
