// The interruption of open jobs by a restart of the Temporal worker: the worker is killed, the stack starts another, and each
// job gets a message of its agent at once. Each history must be replayed before its job answers.
import { setTimeout as sleep } from 'node:timers/promises';

import { type Client, WorkflowNotFoundError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';

import type { FlushAnswer } from '../contracts/flush.ts';
import { jobMessages, jobWorkflowId } from '../contracts/job.ts';
import type { ExchangeAnswer } from '../domain/job/protocol.ts';
import { maxEventsOfOldRun } from '../domain/workflow-limits.ts';
import { createClient } from '../sdk/client.ts';
import { startStack, type TestStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import { cpuSeconds } from './processes.ts';
import type { Report } from './report.ts';
import { simulate, simulatedStack } from './sim/provider.ts';

const answerWithinMs = 180_000;

export async function restartBench(report: Report, options: BenchOptions): Promise<void> {
  const { small, jobs = small ? 6 : 60 } = options;
  // Close to the end of a run: no old job has a longer history.
  const events = options.events ?? Math.floor(maxEventsOfOldRun * (small ? 0.4 : 0.9));
  const stack = await startStack({ overrides: simulatedStack });
  try {
    const simulation = await simulate(stack, { onLaunch: () => undefined, onTerminate: () => undefined });
    try {
      const { client } = simulation;
      const sdk = createClient({ apiUrl: stack.apiUrl, token: stack.token });
      const numbers: number[] = [];
      await atOnce(
        Array.from({ length: jobs }, (_, nth) => nth),
        growAtOnce,
        async () => {
          numbers.push((await sdk.jobs.create({ command: ['true'] })).number);
        },
      );
      const growingMs = performance.now();
      await atOnce(numbers, growAtOnce, (number) => grow(client, number, events));
      report.say(`  the histories took ${Math.round((performance.now() - growingMs) / 1_000)} s to grow`);
      const took = await restart(stack, client, numbers);
      const lengths = await Promise.all(numbers.map((number) => historyLength(client, number)));
      const what = `${jobs} jobs of ${Math.min(...lengths)} to ${Math.max(...lengths)} events`;
      report.figure(`${what}: a killed worker until a job answers`, took.answeredMs, 'ms');
      report.figure('  until all answer', Math.max(...took.answeredMs), 'ms');
      report.figure('  the new worker: CPU', took.workerSeconds, 's');
    } catch (error) {
      // Pending calls fail as the stack ends, and would hide this error.
      report.say(`failed: ${String(error)}`);
      throw error;
    } finally {
      await simulation.stop();
    }
  } finally {
    await stack.stop();
  }
}

/** More in parallel would only wait for each other. */
const growAtOnce = 40;

async function atOnce<T>(items: readonly T[], limit: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

/** An agent reports that it exists, and requests nothing: five events. As an agent does, it repeats an unanswered message. */
async function say(client: Client, number: number): Promise<boolean> {
  const item = { instance: 'i_bench', claim: 0, want: 0, running: [], results: [] };
  const handle = client.workflow.getHandle(jobWorkflowId(number));
  const call = (): Promise<FlushAnswer<ExchangeAnswer>> =>
    handle.executeUpdate(jobMessages.exchange, { args: [{ items: [item] }] });
  const untilMs = performance.now() + answerWithinMs;
  for (;;) {
    try {
      const [answer] = (await client.withDeadline(Date.now() + answerWithinMs, call)).items;
      return answer !== undefined && 'ok' in answer;
    } catch (error) {
      // Temporal's overloaded server may end a call by itself; a job that waits for its start has no workflow yet.
      const isPassing =
        error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || error instanceof WorkflowNotFoundError;
      if (!isPassing || performance.now() > untilMs) throw error;
      await sleep(100);
    }
  }
}

async function grow(client: Client, number: number, events: number): Promise<void> {
  // Until it has read its specification, it has no state to change.
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
