// No-op tasks through 1,000 simulated agents over the real HTTP API, against one activity per task on the same Temporal server:
// 10,000 in one job, and 100,000 in five jobs with 200 agents each. With --tasks, one job of that many.
import { startStack } from '../../test/support/stack.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { load } from '../report.ts';
import { simulate, simulatedStack } from '../sim/provider.ts';
import type { Boot } from '../sim/provider.ts';
import { quantile } from '../statistics.ts';
import { runFleet } from './fleet.ts';
import type { FleetResult } from './fleet.ts';
import { oneJobBench } from './one-job.ts';
import { runOneActivityPerTask } from './one-activity.ts';

export async function tasksBench(report: Report, { small, tasks }: BenchOptions): Promise<void> {
  if (tasks !== undefined) return oneJobBench(report, tasks, small ? 100 : 1_000);
  const scale = small ? 0.1 : 1;
  const stack = await startStack({ overrides: simulatedStack });
  try {
    const boots: Boot[] = [];
    const simulation = await simulate(stack, {
      onLaunch: (launched) => boots.push(...launched),
      onTerminate: () => undefined,
    });
    try {
      const fleet = { stack, simulation, boots };
      const agents = Math.round(1_000 * scale);
      const baseline = await runOneActivityPerTask(simulation, Math.round(2_000 * scale));
      const baseRate = Math.round(2_000 * scale) / baseline.seconds;
      report.figure(`one activity per task (${Math.round(2_000 * scale)} tasks)`, baseRate, 'tasks/s');
      report.figure('  events per task', baseline.size.events / Math.round(2_000 * scale), 'events');
      report.figure('  bytes per task', baseline.size.bytes / Math.round(2_000 * scale), 'bytes');
      const one = { ...fleet, jobs: 1, tasksPerJob: Math.round(10_000 * scale), agentsPerJob: agents };
      const many = {
        ...fleet,
        jobs: 5,
        tasksPerJob: Math.round(20_000 * scale),
        agentsPerJob: Math.round(agents / 5),
      };
      for (const [shape, name] of [
        [one, 'one job'],
        [many, 'five jobs'],
      ] as const) {
        for (const tasksPerRequest of [1, 10]) {
          const result = await runFleet({ ...shape, tasksPerRequest });
          const tasks = shape.jobs * shape.tasksPerJob;
          writeFigures(report, `${tasks} tasks, ${name}, ${tasksPerRequest} a request`, { tasks, baseRate, result });
        }
      }
    } finally {
      await simulation.stop();
    }
  } finally {
    await stack.stop();
  }
}

function writeFigures(
  report: Report,
  name: string,
  { tasks, baseRate, result }: { tasks: number; baseRate: number; result: FleetResult },
): void {
  const { seconds, registerSeconds, size, latencies, again, cpu } = result;
  const sorted = latencies.toSorted((a, b) => a - b);
  report.figure(name, tasks / seconds, 'tasks/s');
  report.figure('  to one activity per task', tasks / seconds / baseRate, 'x');
  report.figure('  events per 1,000 tasks', (size.events / tasks) * 1_000, 'events');
  report.figure('  bytes of history per task', size.bytes / tasks, 'bytes');
  report.figure('  create until all agents have registered', registerSeconds, 's');
  const used = Object.entries(cpu).map(([process, used]) => `${process} ${used.toFixed(1)}`);
  report.say(
    `  exchange p50 ${quantile(sorted, 0.5).toFixed(0)} ms, p99 ${quantile(sorted, 0.99).toFixed(0)} ms, ` +
      `asked again ${again}; in ${seconds.toFixed(1)} s, CPU s: ${used.join(', ')}; runs ${size.runs}; load ${load()}`,
  );
}
