// 100 jobs (or --jobs N) created at the same moment. Everything is real except the agents, so the figures measure admission and
// workflow starts, not the start of 100 processes.
import { createClient } from '../sdk/client.ts';
import { eventually } from '../test/support/eventually.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';
import { createAgent } from './sim/agent.ts';
import { createTalk } from './sim/http.ts';
import { simulate, simulatedStack } from './sim/provider.ts';
import { quantile } from './statistics.ts';

export async function createsBench(report: Report, { small, rounds = 3, jobs }: BenchOptions): Promise<void> {
  const count = jobs ?? (small ? 10 : 100);
  const found = { p50: [] as number[], answered: [] as number[], launched: [] as number[], done: [] as number[] };
  const stack = await startStack({ overrides: simulatedStack });
  try {
    const talk = createTalk(stack.apiUrl);
    let works: Promise<unknown>[] = [];
    const simulation = await simulate(stack, {
      onLaunch: (boots) => {
        works.push(
          ...boots.map(async (boot) => {
            const agent = createAgent(talk, boot, '127.0.0.1');
            await agent.register();
            await agent.work(1);
          }),
        );
      },
      onTerminate: () => undefined,
    });
    try {
      const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
      for (let round = 0; round <= rounds; round += 1) {
        works = [];
        // The first round is not counted.
        const atOnce = round === 0 ? Math.min(count, 100) : count;
        const askedAtMs = performance.now();
        const since = (): number => performance.now() - askedAtMs;
        const create = async (): Promise<number> => {
          await client.jobs.create({ command: ['true'] });
          return since();
        };
        const answered = (await Promise.all(Array.from({ length: atOnce }, create))).toSorted((a, b) => a - b);
        await eventually(() => Promise.resolve(works.length === atOnce), { timeoutMs: 600_000, intervalMs: 5 });
        const launched = since();
        await Promise.all(works);
        if (round === 0) continue;
        found.p50.push(quantile(answered, 0.5));
        found.answered.push(quantile(answered, 1));
        found.launched.push(launched);
        found.done.push(since());
      }
    } finally {
      await simulation.stop();
      talk.close();
    }
  } finally {
    await stack.stop();
  }
  report.figure(`${count} parallel creates: half answered`, found.p50, 'ms');
  report.figure('  all answered', found.answered, 'ms');
  report.figure('  all of their instances launched', found.launched, 'ms');
  report.figure('  all of their tasks done', found.done, 'ms');
}
