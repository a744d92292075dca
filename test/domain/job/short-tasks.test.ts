// The cost of a lost agent for a job of short tasks.
import { expect, it } from 'vitest';

import { runShortTasks } from '../../builders/short-tasks.ts';

const job = { tasks: 2_000, taskMs: 40, exchangeMs: 60 };

it('tasks that run alone after the loss of an agent follow each other without a pause', () => {
  const undisturbedMs = runShortTasks({ ...job, deathAtMs: null });
  const disturbedMs = runShortTasks({ ...job, deathAtMs: 5_000 });
  console.log(`2,000 tasks of 40 ms on 2 agents: ${undisturbedMs} ms; with the loss of one agent: ${disturbedMs} ms`);
  // One agent works alone for 10 s, and some 100 tasks need an exchange each.
  expect(disturbedMs).toBeLessThan(undisturbedMs + 15_000);
});
