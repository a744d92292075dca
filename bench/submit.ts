// From the request for a job to the start of its first task, on a real local agent, stage by stage.
import { createClient } from '../sdk/client.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';

export async function submitBench(report: Report, { small, rounds = small ? 2 : 10 }: BenchOptions): Promise<void> {
  const times = {
    answered: [] as number[],
    launched: [] as number[],
    registered: [] as number[],
    task: [] as number[],
  };
  const stack = await startStack();
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    // The first one fills caches.
    for (let round = 0; round <= rounds; round += 1) {
      const askedAtMs = Date.now();
      const { number } = await client.jobs.create({ command: ['true'] });
      const answeredAtMs = Date.now();
      await client.jobs.wait(number);
      const [task] = (await client.jobs.tasks(number)).items;
      const cluster = await client.clusters.waitForEnd(number);
      if (round === 0) continue;
      const since = (time: string | null | undefined): number => Date.parse(time ?? '') - askedAtMs;
      const event = (code: string): string | undefined => cluster.events.find((each) => each.code === code)?.at;
      times.answered.push(answeredAtMs - askedAtMs);
      times.launched.push(since(event('LAUNCHED')));
      times.registered.push(since(cluster.readyAt));
      times.task.push(since(task?.startedAt));
    }
  } finally {
    await stack.stop();
  }
  report.figure('submit to first task running', times.task, 'ms');
  report.figure('  request answered', times.answered, 'ms');
  report.figure('  agent launched', times.launched, 'ms');
  report.figure('  agent registered', times.registered, 'ms');
}
