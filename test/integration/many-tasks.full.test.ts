// 60,000 tasks in one job, run by simulated agents over the real API and the real Temporal server: its workflow carries little
// from run to run, and every task and its record can be read.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { simulate, simulatedStack, type Boot, type Simulation } from '../../bench/sim/provider.ts';
import { carriedBytes } from '../../bench/tasks/carried.ts';
import { runFleet } from '../../bench/tasks/fleet.ts';
import { createClient } from '../../sdk/client.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const tasks = 60_000;
let stack: TestStack;
let simulation: Simulation;
const boots: Boot[] = [];
beforeAll(async () => {
  stack = await startStack({ overrides: simulatedStack });
  const onLaunch = (launched: Boot[]): void => void boots.push(...launched);
  simulation = await simulate(stack, { onLaunch, onTerminate: () => undefined });
}, 120_000);
afterAll(async () => {
  await simulation.stop();
  await stack.stop();
});

it('60,000 tasks of one job are each recorded once', { timeout: 600_000 }, async () => {
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const shape = { jobs: 1, tasksPerJob: tasks, agentsPerJob: 100, tasksPerRequest: 50 };
  const { numbers, size } = await runFleet({ stack, simulation, boots, ...shape });
  const [number = 0] = numbers;
  const seen = new Uint8Array(tasks);
  for await (const { index, id, state, attempt } of client.jobs.tasks(number, { limit: 1_000 })) {
    expect([id, state, attempt]).toEqual([index, 'done', 1]);
    seen[index] = (seen[index] ?? 0) + 1;
  }
  expect(seen.every((count) => count === 1)).toBe(true);
  expect(await client.jobs.tasks(number, { state: 'error' })).toMatchObject({ items: [], next: null });
  expect(size.runs).toBeGreaterThan(2);
  expect(await carriedBytes(simulation.client, `job/${number}`)).toBeLessThan(1_000_000);
});
