// A job whose tasks record their own runs in files outside the home: the evidence that the product's records are compared with.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createClient } from '../../../sdk/client.ts';
import type { Client, Job, CreateJob } from '../../../sdk/client.ts';
import { eventually } from '../../support/eventually.ts';
import { agentPids } from '../../support/kills.ts';
import type { TestStack } from '../../support/stack.ts';
import { recordedTasks, taskRecords } from '../matrix/records.ts';

/** One run of one task, as its command recorded it. */
export interface Run {
  task: number;
  attempt: number;
  instance: string;
  hasEnded: boolean;
}

export interface FaultyJob {
  client: Client;
  number: number;
  taskCount: number;
  runs: () => Run[];
  view: () => Promise<Job>;
  /** Waits until this many more tasks have ended than at the call. */
  progress: (more: number) => Promise<void>;
  /** Waits until this many agents live; returns their pids by instance. */
  agents: (count: number) => Promise<Map<string, number>>;
  /** Waits for the end of the job and of its agents. */
  end: () => Promise<Job>;
  /** The differences between the records and the real runs; empty when every task has one record, of a run that exited with 0. */
  lies: () => string[];
  remove: () => void;
}

/** Two appends reveal a run that was killed in between. */
const script =
  'run="$RUNS/$ROPEWALK_BATCH_TASK_ID-$ROPEWALK_TASK_ATTEMPT-$ROPEWALK_INSTANCE"; echo began >> "$run"; sleep "0.$((RANDOM % 4 + 3))"; echo ended >> "$run"';

export async function startJob(
  stack: TestStack,
  { ntasks, ...options }: Partial<CreateJob> & { ntasks: number },
): Promise<FaultyJob> {
  const directory = mkdtempSync(join(tmpdir(), 'ropewalk-faults-'));
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const command = ['bash', '-c', script];
  const { number } = await client.jobs.create({ command, env: { RUNS: directory }, ntasks, ...options });
  const view = (): Promise<Job> => client.jobs.get(number);
  const ended = (): Run[] => runsIn(directory).filter(({ hasEnded }) => hasEnded);
  return {
    client,
    number,
    taskCount: ntasks,
    view,
    runs: () => runsIn(directory),
    progress: async (more) => {
      const from = ended().length;
      await eventually(() => ended().length >= from + more, { timeoutMs: 90_000 });
    },
    agents: (count) =>
      eventually(() => {
        const living = agentPids(stack.home);
        return living.size === count ? living : null;
      }),
    end: async () => {
      const job = await eventually(
        async () => {
          const found = await view();
          return found.endedAt === null ? null : found;
        },
        { timeoutMs: 120_000, intervalMs: 200 },
      );
      await eventually(() => agentPids(stack.home).size === 0);
      return job;
    },
    lies: () => compare(stack.home, number, ntasks, ended()),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function compare(home: string, number: number, taskCount: number, ended: readonly Run[]): string[] {
  const all = Array.from({ length: taskCount }, (_, task) => task);
  const recorded = recordedTasks(home, number);
  const isOnce = JSON.stringify(recorded) === JSON.stringify(all);
  const untrue = taskRecords(home, number).filter(
    ({ task, attempt, instance, exitCode, state }) =>
      state !== 'done' ||
      exitCode !== 0 ||
      !ended.some((run) => run.task === task && run.attempt === attempt && run.instance === instance),
  );
  return [
    ...(isOnce ? [] : [`recorded: ${recorded.join(',')}`]),
    ...untrue.map((record) => `did not run as recorded: ${JSON.stringify(record)}`),
  ];
}

function runsIn(directory: string): Run[] {
  return readdirSync(directory).flatMap((name) => {
    const [task = '', attempt = '', instance = ''] = name.split('-');
    const lines = readFileSync(join(directory, name), 'utf8').trim().split('\n');
    const ended = lines.filter((line) => line === 'ended').length;
    const began = lines.filter((line) => line === 'began');
    return began.map((_, at) => ({ task: Number(task), attempt: Number(attempt), instance, hasEnded: at < ended }));
  });
}
