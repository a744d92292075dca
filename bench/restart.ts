// How long a restart of the Temporal worker stops the jobs that were open before it: the worker is killed, the stack starts another,
// and each job gets a message of its agent at once. Each history has to be replayed before its job answers.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Client } from '@temporalio/client';

import type { FlushAnswer } from '../contracts/flush.ts';
import { jobMessages, jobWorkflowId } from '../contracts/job.ts';
import type { ExchangeAnswer } from '../domain/job/protocol.ts';
import { maxEventsOfRun } from '../domain/limits.ts';
import { createClient } from '../sdk/client.ts';
import { startStack, type TestStack } from '../test/support/stack.ts';
import type { BenchOptions } from './main.ts';
import { cpuSeconds } from './processes.ts';
import type { Report } from './report.ts';
import { simulate, simulatedStack } from './sim/provider.ts';

const answerWithinMs = 180_000;

export async function restartBench(report: Report, { small }: BenchOptions): Promise<void> {
  const jobs = small ? 6 : 60;
  // Close to the end of a run: no history is longer.
  const events = Math.floor(maxEventsOfRun * (small ? 0.1 : 0.9));
  const stack = await startStack({ overrides: simulatedStack });
  try {
    const simulation = await simulate(stack, { onLaunch: () => undefined, onTerminate: () => undefined });
    try {
      const { client } = simulation;
      const sdk = createClient({ apiUrl: stack.apiUrl, token: stack.token });
      const created = await Promise.all(Array.from({ length: jobs }, () => sdk.jobs.create({ command: ['true'] })));
      const numbers = created.map(({ number }) => number);
      await Promise.all(numbers.map((number) => grow(client, number, events)));
      const took = await restart(stack, client, numbers);
      const lengths = await Promise.all(numbers.map((number) => historyLength(client, number)));
      const what = `${jobs} jobs of ${Math.min(...lengths)} to ${Math.max(...lengths)} events`;
      report.figure(`${what}: a killed worker until a job answers`, took.answeredMs, 'ms');
      report.figure('  until all answer', Math.max(...took.answeredMs), 'ms');
      report.figure('  the new worker: CPU', took.workerSeconds, 's');
    } finally {
      await simulation.stop();
    }
  } finally {
    await stack.stop();
  }
}

/** An agent says that it is there, and asks for nothing: five events. */
async function say(client: Client, number: number): Promise<boolean> {
  const item = { instance: 'i_bench', claim: 0, want: 0, running: [], results: [] };
  const handle = client.workflow.getHandle(jobWorkflowId(number));
  const call = (): Promise<FlushAnswer<ExchangeAnswer>> =>
    handle.executeUpdate(jobMessages.exchange, { args: [{ items: [item] }] });
  const [answer] = (await client.withDeadline(Date.now() + answerWithinMs, call)).items;
  return answer !== undefined && 'ok' in answer;
}

async function grow(client: Client, number: number, events: number): Promise<void> {
  // Until it has read its specification, it has no state that it could change.
  while (!(await say(client, number))) await sleep(100);
  while ((await historyLength(client, number)) < events - 5) {
    for (let nth = 0; nth < 10; nth += 1) await say(client, number);
  }
}

async function historyLength(client: Client, number: number): Promise<number> {
  return (await client.workflow.getHandle(jobWorkflowId(number)).describe()).historyLength;
}

async function restart(
  stack: TestStack,
  client: Client,
  numbers: number[],
): Promise<{ answeredMs: number[]; workerSeconds: number }> {
  const startMs = performance.now();
  await stack.kill('worker', 'SIGKILL');
  const answeredMs = await Promise.all(
    numbers.map(async (number) => {
      await say(client, number);
      return performance.now() - startMs;
    }),
  );
  const { worker } = await stack.childPids();
  return { answeredMs, workerSeconds: worker === undefined ? 0 : await cpuSeconds(worker) };
}
