import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createOrderWatch } from '../../services/order-watch.ts';
import type { Orders } from '../../contracts/cluster.ts';

const key = { workspace: 'default', cluster: 1 };
const version = (number: number, stop: Orders['stop'] = null): Orders => ({
  version: number,
  schedulerAddress: null,
  drain: [],
  adaptive: null,
  stop,
});
const over = { code: 'CLUSTER_OVER', text: 'over' };
const holdMs = 50_000;

function createFixture() {
  const source = {
    orders: version(1),
    reads: [] as number[],
    failure: null as Error | null,
    row: { version: 1, ended: false, orders: version(1) as Orders | null },
    rowReads: 0,
    asked: [] as number[][],
    isBroken: false,
  };
  const watch = createOrderWatch({
    holdMs,
    monotonicMs: Date.now,
    read: async (_key, maxAgeMs) => {
      source.reads.push(maxAgeMs);
      if (source.failure !== null) throw source.failure;
      return source.orders;
    },
    readRow: async ({ workspace }) => {
      if (source.isBroken && workspace === 'broken') throw new Error('damaged');
      source.rowReads += 1;
      return source.row.orders;
    },
    versions: async (clusters) => {
      source.asked.push(clusters);
      return clusters.map((number) => ({ number, version: source.row.version, ended: source.row.ended }));
    },
  });
  const ask = (seen: number, signal = new AbortController().signal) => {
    const asked: { got: Orders | null; done: Promise<unknown> } = { got: null, done: Promise.resolve() };
    asked.done = watch.wait(key, seen, signal).then((orders) => (asked.got = orders));
    return asked;
  };
  return { source, watch, ask };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  const left = vi.getTimerCount();
  vi.useRealTimers();
  if (left > 0) throw new Error(`${left} timers outlive those who waited`);
});

describe('waiting for orders', () => {
  it('ends at once when there is something new, or a stop', async () => {
    const { source, watch, ask } = createFixture();
    const fresh = ask(0);
    await vi.advanceTimersByTimeAsync(0);
    expect(fresh.got).toEqual(version(1));
    source.row = { version: 2, ended: true, orders: version(1, over) };
    const stopped = ask(1);
    await watch.round();
    await vi.advanceTimersByTimeAsync(0);
    expect(stopped.got?.stop).toEqual(over);
  });

  it('ends after the longest time with what there is', async () => {
    const { ask } = createFixture();
    const asked = ask(1);
    await vi.advanceTimersByTimeAsync(holdMs - 1);
    expect(asked.got).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.got).toEqual(version(1));
  });

  it('asks no workflow while nothing changes, however many wait and come back', async () => {
    const { source, watch, ask } = createFixture();
    const first = ask(0);
    await vi.advanceTimersByTimeAsync(0);
    expect([first.got, source.reads.length]).toEqual([version(1), 1]);
    for (let poll = 0; poll < 10; poll += 1) {
      const waiting = Array.from({ length: 20 }, () => ask(1));
      for (let second = 0; second < 50; second += 1) {
        await watch.round();
        await vi.advanceTimersByTimeAsync(1_000);
      }
      expect(waiting.every(({ got }) => got?.version === 1)).toBe(true);
    }
    expect([source.reads.length, source.rowReads]).toEqual([1, 1]);
    expect(new Set(source.asked.map(String))).toEqual(new Set(['1']));
  });

  it('forgets a cluster for which no agent has waited for a minute', async () => {
    const { watch, ask } = createFixture();
    const left = new AbortController();
    const asked = ask(0, left.signal);
    await asked.done;
    await vi.advanceTimersByTimeAsync(60_000);
    await watch.round();
    expect(watch.size()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await watch.round();
    expect(watch.size()).toBe(0);
  });

  it('gets the orders of other replicas from the database', async () => {
    const { source, watch, ask } = createFixture();
    const asked = ask(1);
    await watch.round();
    expect(asked.got).toBeNull();
    source.row = { version: 5, ended: false, orders: version(2) };
    await watch.round();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.got).toEqual(version(2));
    source.row = { version: 6, ended: false, orders: null };
    await watch.round();
    expect(source.reads).toEqual([]);
  });

  it('reads the other rows of a round although one cannot be read, and that one again', async () => {
    const { source, watch, ask } = createFixture();
    const other = { workspace: 'broken', cluster: 2 };
    source.isBroken = true;
    const [first, second] = [watch.wait(other, 1, new AbortController().signal), ask(1)];
    source.row = { version: 2, ended: false, orders: version(2) };
    await expect(watch.round()).rejects.toThrow('damaged');
    await second.done;
    expect(second.got).toEqual(version(2));
    source.isBroken = false;
    await watch.round();
    expect(await first).toEqual(version(2));
  });

  it('gets the orders of this replica at once, without a query, and never an older version afterwards', async () => {
    const { source, watch, ask } = createFixture();
    const [one, two, ahead] = [ask(1), ask(1), ask(3)];
    watch.heard(key, version(3));
    watch.heard({ ...key, workspace: 'other' }, version(9));
    await vi.advanceTimersByTimeAsync(0);
    expect([one.got, two.got, ahead.got]).toEqual([version(3), version(3), null]);
    source.row = { version: 4, ended: false, orders: version(2) };
    await watch.round();
    const late = ask(2);
    await vi.advanceTimersByTimeAsync(0);
    expect([late.got, source.reads]).toEqual([version(3), []]);
    await vi.advanceTimersByTimeAsync(holdMs);
    expect(ahead.got).toEqual(version(3));
  });

  it('asks the workflow when it is woken, and a few times more', async () => {
    const { source, watch, ask } = createFixture();
    const asked = ask(1);
    watch.wake(key);
    await vi.advanceTimersByTimeAsync(500);
    expect([asked.got, source.reads]).toEqual([null, [0]]);
    source.orders = version(2);
    await vi.advanceTimersByTimeAsync(500);
    expect(asked.got).toEqual(version(2));
    const idle = ask(2);
    watch.wake(key);
    await vi.advanceTimersByTimeAsync(holdMs);
    expect(idle.got).toEqual(version(2));
    expect(source.reads.length).toBeLessThan(10);
    watch.wake(key);
    expect(source.reads.length).toBeLessThan(10);
  });

  it('fails when nothing is known, and ends when its reader leaves', async () => {
    const { source, ask } = createFixture();
    source.failure = new Error('away');
    await expect(ask(0).done).rejects.toThrow('away');
    source.failure = null;
    const left = new AbortController();
    const asked = ask(1, left.signal);
    await vi.advanceTimersByTimeAsync(10);
    left.abort();
    await asked.done;
    await ask(1, left.signal).done;
  });
});
