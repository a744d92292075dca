// One job of many no-op tasks through simulated agents: the size of its history and state, the memory of the processes, and the
// read latency for users.
import { createClient } from '../../sdk/client.ts';
import { startStack } from '../../test/support/stack.ts';
import { residentMb } from '../processes.ts';
import type { Report } from '../report.ts';
import { load } from '../report.ts';
import { simulate, simulatedStack, type Boot } from '../sim/provider.ts';
import { carriedBytes } from './carried.ts';
import { runFleet } from './fleet.ts';

export async function oneJobBench(report: Report, tasks: number, agents: number): Promise<void> {
  const stack = await startStack({ overrides: simulatedStack });
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  try {
    const boots: Boot[] = [];
    const simulation = await simulate(stack, {
      onLaunch: (launched) => boots.push(...launched),
      onTerminate: () => undefined,
    });
    const highest: Record<string, number> = {};
    const watch = setInterval(() => void noteMemory(stack.childPids, highest).catch(() => undefined), 1_000);
    try {
      const shape = { jobs: 1, tasksPerJob: tasks, agentsPerJob: Math.min(agents, tasks), tasksPerRequest: 10 };
      const { seconds, submitSeconds, size, numbers } = await runFleet({ stack, simulation, boots, ...shape });
      const [number = 0] = numbers;
      report.figure(`${tasks} tasks, one job, 10 a request`, tasks / seconds, 'tasks/s');
      report.figure('  seconds', seconds, 's');
      report.figure('  submit answered', submitSeconds * 1_000, 'ms');
      report.figure('  bytes of history per task', size.bytes / tasks, 'bytes');
      report.figure('  events per 1,000 tasks', (size.events / tasks) * 1_000, 'events');
      report.figure(
        '  largest carried input of a run',
        await carriedBytes(simulation.client, `job/${number}`),
        'bytes',
      );
      for (const [name, mb] of Object.entries(highest)) report.figure(`  memory of ${name} at most`, mb, 'MB');
      const timed = async (what: string, read: () => Promise<unknown>): Promise<void> => {
        const fromMs = performance.now();
        await read();
        report.figure(`  ${what}`, performance.now() - fromMs, 'ms');
      };
      const get = async (path: string): Promise<unknown> => {
        const headers = { authorization: `Bearer ${stack.token}` };
        const answer = await fetch(`${stack.apiUrl}/v1/jobs/${number}/${path}`, { headers });
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
        return answer.json();
      };
      await timed('the view', () => client.jobs.get(number));
      await timed('a page of 1,000 tasks in the middle', () => get(`tasks?limit=1000&after=${Math.floor(tasks / 2)}`));
      await timed('states of all tasks, first read', () => get('task-states'));
      await timed('states of all tasks, again', () => get('task-states'));
      await timed('tasks in one state', () => get('tasks?limit=1000&state=error'));
      report.say(`  runs ${size.runs}; load ${load()}`);
    } finally {
      clearInterval(watch);
      await simulation.stop();
    }
  } finally {
    await stack.stop();
  }
}

async function noteMemory(
  pidsOf: () => Promise<Record<string, number>>,
  highest: Record<string, number>,
): Promise<void> {
  for (const [name, pid] of Object.entries(await pidsOf()))
    highest[name] = Math.max(highest[name] ?? 0, await residentMb(pid));
}
