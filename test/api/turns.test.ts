// Requests that read all tasks of a large job.
import { expect, it } from 'vitest';

import { createTurns, inParts, tasksAtOnce } from '../../services/turns.ts';
import { createTestApi } from './support.ts';

const large = tasksAtOnce + 1;

it('take turns, caller by caller, also after one that fails', async () => {
  const turns = createTurns();
  const order: string[] = [];
  let running = 0;
  const ask = (caller: string, name: string) =>
    turns.take(caller, large, async () => {
      running += 1;
      expect(running).toBe(1);
      order.push(name);
      await new Promise(setImmediate);
      running -= 1;
      if (name === 'a2') throw new Error('a fault');
    });
  const asked = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1'), ask('b', 'b2')];
  const outcomes = await Promise.allSettled(asked);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true, true]);
});

it('wait only so many of one caller; jobs of few tasks need no turn', async () => {
  const turns = createTurns({ maxWaiting: 2 });
  const end = Promise.withResolvers<void>();
  const ask = (caller: string) => turns.take(caller, large, () => end.promise);
  const asked = [ask('a'), ask('a'), ask('a')];
  await expect(ask('a')).rejects.toMatchObject({ problem: { code: 'TOO_BUSY' } });
  expect(await turns.take('a', tasksAtOnce, async () => 'at once')).toBe('at once');
  asked.push(ask('b'));
  end.resolve();
  await Promise.all(asked);
});

it('reach each index once', async () => {
  const seen: number[] = [];
  await inParts(2 * tasksAtOnce + 5, (index) => seen.push(index));
  expect(seen.every((index, at) => index === at)).toBe(true);
  expect(seen.length).toBe(2 * tasksAtOnce + 5);
  await inParts(-1, () => expect.unreachable());
});

it.each(['at', 'task-states', 'tasks?state=done&limit=10'])('leave the others their breaks: %s', async (path) => {
  const api = await createTestApi();
  const tasks = 10 * tasksAtOnce;
  const number = await api.submit({ ntasks: tasks });
  let breaks = 0;
  let hasEnded = false;
  const count = (): void => {
    breaks += 1;
    if (!hasEnded) setImmediate(count);
  };
  setImmediate(count);
  const answer = await api.call('GET', `/v1/jobs/${number}/${path}`);
  hasEnded = true;
  expect(answer.status).toBe(200);
  expect(breaks).toBeGreaterThanOrEqual(tasks / tasksAtOnce);
  const many = await Promise.all(
    Array.from({ length: 30 }, async () => (await api.call('GET', `/v1/jobs/${number}/${path}`)).status),
  );
  expect(new Set(many)).toEqual(new Set([200, 429]));
});
