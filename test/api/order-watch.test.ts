import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createOrderWatch } from '../../services/order-watch.ts';
import type { Orders } from '../../contracts/cluster.ts';

const key = { workspace: 'default', cluster: 1 };
const version = (number: number, stop: Orders['stop'] = null): Orders => ({
  version: number,
  schedulerAddress: null,
  drain: [],
  stop,
});
const over = { code: 'CLUSTER_OVER', text: 'over' };

function createWorld() {
  const world = { orders: version(1), reads: [] as number[], failure: null as Error | null };
  const watch = createOrderWatch({
    holdMs: 20_000,
    read: async (_key, maxAgeMs) => {
      world.reads.push(maxAgeMs);
      if (world.failure !== null) throw world.failure;
      return world.orders;
    },
  });
  const ask = (seen: number, signal = new AbortController().signal) => {
    const asked: { got: Orders | null; done: Promise<unknown> } = { got: null, done: Promise.resolve() };
    asked.done = watch.wait(key, seen, signal).then((orders) => (asked.got = orders));
    return asked;
  };
  return { world, watch, ask };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  const left = vi.getTimerCount();
  vi.useRealTimers();
  if (left > 0) throw new Error(`${left} timers outlive those who waited`);
});

describe('waiting for orders', () => {
  it('ends at once when there is something new, or a stop', async () => {
    const { world, ask } = createWorld();
    const fresh = ask(0);
    await vi.advanceTimersByTimeAsync(0);
    expect(fresh.got).toEqual(version(1));
    world.orders = version(1, over);
    const stopped = ask(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(stopped.got?.stop).toEqual(over);
  });

  it('ends after the longest time with what there is', async () => {
    const { ask } = createWorld();
    const asked = ask(1);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(asked.got).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.got).toEqual(version(1));
  });

  it('shares one look among all who wait, less often the longer nothing happens, and looks no more when all have left', async () => {
    const { world, ask } = createWorld();
    const waiting = Array.from({ length: 200 }, () => ask(1));
    await vi.advanceTimersByTimeAsync(0);
    const first = world.reads.length;
    const times: number[] = [];
    for (let ms = 0; ms < 19_000; ms += 100) {
      const before = world.reads.length;
      await vi.advanceTimersByTimeAsync(100);
      if (world.reads.length > before) times.push(ms + 100);
    }
    expect(world.reads.length - first).toBe(times.length);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
    expect(gaps[0]).toBe(1_000);
    expect(gaps.toSorted((a, b) => a - b)).toEqual(gaps);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(waiting.every(({ got }) => got !== null)).toBe(true);
    const last = world.reads.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(world.reads).toHaveLength(last);
  });

  it('hears of a change elsewhere with the next look', async () => {
    const { world, ask } = createWorld();
    const asked = ask(1);
    await vi.advanceTimersByTimeAsync(500);
    world.orders = version(2);
    await vi.advanceTimersByTimeAsync(500);
    expect(asked.got).toEqual(version(2));
  });

  it('hears at once of what passes by here, without a look, and never of less than it has heard', async () => {
    const { world, watch, ask } = createWorld();
    const [one, two, ahead] = [ask(1), ask(1), ask(3)];
    await vi.advanceTimersByTimeAsync(0);
    const before = world.reads.length;
    watch.heard(key, version(3));
    watch.heard({ ...key, workspace: 'other' }, version(9));
    await vi.advanceTimersByTimeAsync(0);
    expect([one.got, two.got, ahead.got]).toEqual([version(3), version(3), null]);
    expect(world.reads).toHaveLength(before);
    const late = ask(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(late.got).toEqual(version(3));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(ahead.got).toEqual(version(3));
  });

  it('looks anew when it is woken', async () => {
    const { world, watch, ask } = createWorld();
    const asked = ask(1);
    await vi.advanceTimersByTimeAsync(9_100);
    world.orders = version(1, over);
    watch.wake(key);
    await vi.advanceTimersByTimeAsync(0);
    expect([asked.got?.stop, world.reads.at(-1)]).toEqual([over, 0]);
    watch.wake(key);
    expect(world.reads.at(-1)).toBe(0);
  });

  it('fails when nothing is known, and ends when its reader leaves', async () => {
    const { world, ask } = createWorld();
    world.failure = new Error('away');
    await expect(ask(1).done).rejects.toThrow('away');
    world.failure = null;
    const left = new AbortController();
    const asked = ask(1, left.signal);
    await vi.advanceTimersByTimeAsync(10);
    left.abort();
    await asked.done;
    await ask(1, left.signal).done;
  });
});
