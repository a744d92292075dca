// Reports of an idle cluster's agents cost its workflow nothing, an API that is killed suspects no instance, and an instance that
// falls silent is found. Agents are simulated; Temporal, the API, the database and the Temporal worker are real.
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { historySize } from '../../bench/history.ts';
import { createDaskAgent } from '../../bench/sim/dask-agent.ts';
import { createTalk } from '../../bench/sim/http.ts';
import { simulate, simulatedStack } from '../../bench/sim/provider.ts';
import type { Boot, Simulation } from '../../bench/sim/provider.ts';
import { daskBundle } from '../../schema/agent.ts';
import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { eventually } from '../support/eventually.ts';
import { startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

/** Agents report three times in this time; without a report in it they are suspected. */
const leaseMs = 6_000;
const instances = 3;

describe('an idle cluster', () => {
  const boots: Boot[] = [];
  const stops = new Map<string, AbortController>();
  const lives: Promise<void>[] = [];
  let stack: TestStack;
  let simulation: Simulation;
  let talk: ReturnType<typeof createTalk>;
  let client: Client;
  let store: Store;
  let number = 0;

  beforeAll(async () => {
    stack = await startStack({ overrides: simulatedStack });
    talk = createTalk(stack.apiUrl);
    simulation = await simulate(stack, {
      onLaunch: (fresh) => void boots.push(...fresh),
      onTerminate: () => undefined,
    });
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    store = await openStore({ url: null, file: join(stack.home, 'ropewalk.db'), migrate: false });
    const seconds = `${leaseMs / 1_000} seconds`;
    ({ number } = await client.clusters.create({ workers: instances - 1, idleTimeout: '1 day', lease: seconds }));
    await eventually(() => Promise.resolve(boots.length === instances || null));
    for (const boot of boots) {
      const stop = new AbortController();
      const agent = createDaskAgent(talk, boot, stop.signal);
      await agent.begin((bundle) => daskBundle.parse(bundle));
      stops.set(boot.instance, stop);
      lives.push(agent.live());
    }
    await client.clusters.waitForWorkers(number, true);
  });
  afterAll(async () => {
    for (const stop of stops.values()) stop.abort();
    talk?.close();
    await Promise.all(lives);
    await store?.close();
    await simulation?.stop();
    await stack?.stop();
  });

  const events = async (): Promise<number> => (await historySize(simulation.client, `cluster/${number}`)).events;
  const codes = async (): Promise<string[]> => (await client.clusters.get(number)).events.map(({ code }) => code);
  const heardAt = async (): Promise<number[]> => {
    const ids = boots.slice(0, instances).map(({ instance }) => instance);
    return (await store.liveness.read(number, ids)).map(({ heardAtMs }) => heardAtMs);
  };
  /** Waits until the database has a report of each agent from at least `ms` after this call. */
  const spoken = async (ms: number): Promise<void> => {
    const sinceMs = Date.now() + ms;
    await eventually(
      async () => {
        const times = await heardAt();
        return (times.length === instances && times.every((atMs) => atMs >= sinceMs)) || null;
      },
      { timeoutMs: ms + 60_000, intervalMs: 200 },
    );
  };
  /** Its projection has been written, and no start-up timer remains. */
  const settled = (): Promise<number> =>
    eventually(
      async () => {
        const before = await events();
        await spoken(leaseMs);
        return (await events()) === before ? before : null;
      },
      { timeoutMs: 90_000 },
    );

  it('has a history that does not grow while its agents speak', async () => {
    const before = await settled();
    await spoken(2 * leaseMs);
    expect(await events()).toBe(before);
  });

  it('has no suspect after its API was killed for longer than a silence that counts', async () => {
    const before = await settled();
    const { api } = await stack.childPids();
    await stack.kill('api', 'SIGSTOP');
    const stoppedAtMs = Date.now();
    await eventually(() => Promise.resolve(Date.now() - stoppedAtMs > 2 * leaseMs || null), { timeoutMs: 60_000 });
    await stack.kill('api', 'SIGKILL');
    await eventually(async () => {
      const pids = await stack.childPids();
      return (pids['api'] !== undefined && pids['api'] !== api) || null;
    });
    await spoken(2 * leaseMs);
    expect(await events()).toBe(before);
    expect(await codes()).not.toContain('SUSPECTED');
  });

  it('finds a worker that has died without a word, and replaces it', async () => {
    const lost = boots[instances - 1]?.instance ?? '';
    stops.get(lost)?.abort();
    simulation.lose(lost);
    const cluster = await eventually(
      async () => {
        const now = await client.clusters.get(number);
        return now.instances.some(({ id }) => id === lost) || now.instances.length < instances ? null : now;
      },
      { timeoutMs: 60_000 },
    );
    expect(cluster.events.map(({ code }) => code)).toEqual(expect.arrayContaining(['SUSPECTED', 'GONE']));
    expect(boots).toHaveLength(instances + 1);
  });
});
