// The order in which requests of several users begin.
import { describe, expect, it } from 'vitest';

import { createFairQueue } from '../../services/fair-queue.ts';
import { createTestApi } from './support.ts';

describe('the queue of beginnings', () => {
  /** A queue whose clock and turns of the event loop the test moves. Each request takes its `ms` when it begins. */
  function queueByHand() {
    const clock = { ms: 0 };
    let planned: (() => void)[] = [];
    const queue = createFairQueue({ monotonicMs: () => clock.ms, nextTurn: (step) => void planned.push(step) });
    const begun: string[] = [];
    return {
      begun,
      enter: (workspace: string, user: string, ms = 1): void => {
        void queue.enter({ workspace, id: `${workspace}/${user}` }).then(() => {
          begun.push(`${workspace} ${user}`);
          clock.ms += ms;
        });
      },
      /** Returns how many began in it. */
      turn: async (): Promise<number> => {
        const steps = planned;
        planned = [];
        await new Promise(setImmediate);
        const before = begun.length;
        for (const step of steps) {
          step();
          await new Promise(setImmediate);
        }
        return begun.length - before;
      },
      isIdle: () => planned.length === 0,
    };
  }
  const runAll = async ({ turn, isIdle }: ReturnType<typeof queueByHand>): Promise<number[]> => {
    const turns: number[] = [];
    while (!isIdle()) turns.push(await turn());
    return turns;
  };

  it('begins a request that meets no other at once', async () => {
    const queue = queueByHand();
    for (const user of ['ada', 'bob']) {
      queue.enter('a', user);
      await Promise.resolve();
      expect(queue.begun.at(-1)).toBe(`a ${user}`);
      expect(await runAll(queue)).toEqual([0]);
    }
  });

  it('lets workspaces take turns, and in them their users', async () => {
    const queue = queueByHand();
    for (const user of ['ada', 'ada', 'ada', 'bob', 'ada', 'cleo']) queue.enter('a', user);
    for (const user of ['dan', 'dan']) queue.enter('b', user);
    queue.enter('c', 'eve');
    await runAll(queue);
    expect(queue.begun).toEqual(['a ada', 'b dan', 'c eve', 'a bob', 'b dan', 'a cleo', 'a ada', 'a ada', 'a ada']);
  });

  it('counts time, not requests: eight short ones begin for each that takes eight times as long', async () => {
    const queue = queueByHand();
    for (let count = 0; count < 6; count += 1) queue.enter('long', 'ada', 8);
    for (let count = 0; count < 24; count += 1) queue.enter('short', 'bob', 1);
    await runAll(queue);
    const shorts = queue.begun.flatMap((who, at) => (who === 'short bob' ? [at] : []));
    // The first one met no other; after it, short ones take as much time as long ones.
    expect(shorts.slice(0, 16).at(-1)).toBeLessThanOrEqual(18);
    expect(shorts.at(-1)).toBeLessThanOrEqual(27);
  });

  it('leaves the others of the process a turn after two milliseconds of beginnings', async () => {
    const queue = queueByHand();
    for (let count = 0; count < 9; count += 1) queue.enter('a', 'ada', 1);
    for (let count = 0; count < 2; count += 1) queue.enter('a', 'ada', 5);
    expect(Math.max(...(await runAll(queue)))).toBe(2);
    expect(queue.begun).toHaveLength(11);
  });

  it('gives no advantage for time in which a workspace wanted nothing', async () => {
    const queue = queueByHand();
    for (let count = 0; count < 40; count += 1) queue.enter('busy', 'ada', 1);
    for (let turns = 0; turns < 5; turns += 1) await queue.turn();
    for (let count = 0; count < 10; count += 1) queue.enter('late', 'bob', 1);
    const before = queue.begun.length;
    await runAll(queue);
    const firsts = queue.begun.slice(before, before + 10);
    expect(firsts.filter((who) => who === 'late bob')).toHaveLength(5);
  });
});

it('answers the single request of a user before the many that another one has sent earlier', async () => {
  const api = await createTestApi();
  const greedy = await api.addToken('greedy');
  const single = await api.addToken('single');
  const answered: string[] = [];
  const ask = async (token: string, who: string): Promise<void> => {
    expect((await api.call('GET', '/v1/jobs', { token })).status).toBe(200);
    answered.push(who);
  };
  await Promise.all([ask(greedy, 'warm'), ask(single, 'warm')]);
  answered.length = 0;
  const many = Array.from({ length: 50 }, () => ask(greedy, 'greedy'));
  await Promise.all([...many, ask(single, 'single')]);
  expect(answered.indexOf('single')).toBeLessThan(25);
});

it('refuses requests beyond the rate in the same order', async () => {
  const api = await createTestApi({ quotas: { requestsPerSecond: 0.000_1, requestBurst: 2 } });
  const greedy = await api.addToken('greedy');
  const single = await api.addToken('single');
  const answered: number[] = [];
  const ask = async (token: string): Promise<void> => {
    answered.push((await api.call('GET', '/v1/jobs', { token })).status);
  };
  await Promise.all([ask(greedy), ask(single)]);
  answered.length = 0;
  await Promise.all([...Array.from({ length: 50 }, () => ask(greedy)), ask(single)]);
  expect(answered.filter((status) => status === 429)).toHaveLength(49);
  // A refusal takes fewer turns than an answer, so some come before it.
  expect(answered.lastIndexOf(200)).toBeLessThan(25);
});
