// R9: a job of 10,000 tasks whose instances are killed all the time, one task of which kills every instance that runs it. The
// evidence is the archive's pages and the agents' own records.
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';

import { historySize } from '../../bench/history.ts';
import { createTalk } from '../../bench/sim/http.ts';
import { simulate, simulatedStack } from '../../bench/sim/provider.ts';
import { maxLostAttempts } from '../../domain/job/limits.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import { createClient } from '../../sdk/client.ts';
import { read } from '../support/kills.ts';
import { createRandom } from '../support/random.ts';
import { startStack } from '../support/stack.ts';
import { createSoakAgent, type SoakAgent, type SoakHooks } from './agent.ts';

export interface BatchInput {
  tasks: number;
  agents: number;
  minTaskMs: number;
  maxTaskMs: number;
  /** The share of all instances in a minute. */
  killShare: number;
  seed: number;
}

export async function soakBatch({ tasks, agents, minTaskMs, maxTaskMs, killShare, seed }: BatchInput) {
  const random = createRandom(seed);
  const poison = Math.floor(random() * tasks);
  const durations = Array.from({ length: tasks }, () => minTaskMs + random() * (maxTaskMs - minTaskMs));
  const stack = await startStack({ overrides: simulatedStack });
  const talk = createTalk(stack.apiUrl);
  const living = new Set<SoakAgent>();
  const runs = new Map<number, number>();
  const time = { wholeMs: 0, lostMs: 0 };
  let [kills, killsWithTask, instances] = [0, 0, 0];
  const lives: Promise<void>[] = [];
  const strike = (agent: SoakAgent): void => {
    living.delete(agent);
    simulation.lose(agent.instance);
    kills += 1;
    if (agent.kill()) killsWithTask += 1;
  };
  const hooks: SoakHooks = {
    taskMs: (task) => durations[task] ?? 0,
    began: (task, _attempt, agent) => {
      runs.set(task, (runs.get(task) ?? 0) + 1);
      if (task === poison) strike(agent);
    },
    ran: (_task, ms, isWhole) => void (time[isWhole ? 'wholeMs' : 'lostMs'] += ms),
  };
  const simulation = await simulate(stack, {
    onLaunch: (boots) => {
      for (const boot of boots) {
        instances += 1;
        const agent = createSoakAgent(talk, boot, `10.1.${instances >> 8}.${instances & 255}`, hooks);
        living.add(agent);
        // One that was refused because it counted as lost has ended too.
        lives.push(
          agent.live().then(
            () => void living.delete(agent),
            () => void living.delete(agent),
          ),
        );
      }
    },
    onTerminate: (ids) => {
      for (const agent of living) if (ids.includes(agent.instance)) agent.kill();
    },
  });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const startedAtMs = Date.now();
    const { number } = await client.jobs.create({ command: ['true'], ntasks: tasks, maxWorkers: agents, lease: 10 });
    const hasEnded = async (): Promise<boolean> => (await client.jobs.get(number)).endedAt !== null;
    const killsAMinute = killShare * agents;
    const nextKillMs = (): number => Date.now() - (Math.log(1 - random()) * 60_000) / killsAMinute;
    let killAtMs = nextKillMs();
    while (!(await hasEnded())) {
      await sleep(Math.min(Math.max(0, killAtMs - Date.now()), 5_000));
      if (Date.now() < killAtMs) continue;
      killAtMs = nextKillMs();
      const victims = [...living].filter((agent) => !agent.isDead());
      const victim = victims[Math.floor(random() * victims.length)];
      if (victim !== undefined) strike(victim);
    }
    const job = await client.jobs.wait(number);
    const seconds = (Date.now() - startedAtMs) / 1_000;
    const records = recordsOf(stack.home, number);
    const seen = new Set(records.map(({ task }) => task));
    const poisoned = records.find(({ task }) => task === poison);
    const size = await historySize(simulation.client, `job/${number}`);
    const violations = [
      ...(job.tasks.total === tasks ? [] : [`${job.tasks.total} tasks`]),
      ...(records.length === tasks ? [] : [`${records.length} records of ${tasks} tasks`]),
      ...(seen.size === records.length ? [] : [`${records.length - seen.size} tasks are recorded twice`]),
      ...records.filter(({ task }) => !runs.has(task)).map(({ task }) => `task ${task} was recorded and never ran`),
      ...records
        .filter(({ task, state }) => state !== 'done' && task !== poison)
        .map(({ task }) => `task ${task} is not done`),
      ...(poisoned?.state === 'error' && runs.get(poison) === maxLostAttempts
        ? []
        : [`the poison task is ${poisoned?.state} after ${runs.get(poison)} runs`]),
      ...(killsWithTask <= maxLostAttempts ? ['no kill but those of the poison task found a task: void'] : []),
      ...(kills - maxLostAttempts < (killsAMinute * seconds) / 60 / 2 ? [`only ${kills} kills: void`] : []),
      ...(time.lostMs <= 0.1 * (time.wholeMs + time.lostMs) ? [] : ['more than a tenth of the work was wasted']),
    ];
    const wasted = time.lostMs / (time.wholeMs + time.lostMs);
    const allRuns = [...runs.values()].reduce((sum, count) => sum + count, 0);
    return {
      ...{ id: 'R9', tasks, agents, killShare, seed, seconds, instances, kills, killsWithTask, runs: allRuns, wasted },
      ...{ counters: job.counters, events: size.events, historyRuns: size.runs, bytes: size.bytes, violations },
    };
  } finally {
    for (const agent of living) agent.kill();
    talk.close();
    await Promise.all(lives);
    await simulation.stop();
    await stack.stop();
  }
}

function recordsOf(home: string, number: number): TaskRecord[] {
  const records: TaskRecord[] = [];
  for (let page = 0; ; page += 1) {
    const found = read<TaskRecord[]>(join(home, 'objects', taskPageKey('default', number, page)));
    if (found === null) return records;
    records.push(...found);
  }
}
