// The effect of one workspace's requests on another's: the times of a neighbour's reads while an attacker sends the requests
// that cost the API most per byte, against the times without, before each attack.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { createClient } from '../../sdk/client.ts';
import { startStack } from '../../test/support/stack.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { quantile } from '../statistics.ts';
import { ask } from './ask.ts';
import { answers, type OrderOfAttack } from './attacker.ts';
import { attacksOn } from './attacks.ts';

const askEveryMs = 20;

export async function neighboursBench(report: Report, { small }: BenchOptions): Promise<void> {
  const seconds = small ? 3 : 15;
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bench-'));
  const loopFile = join(directory, 'loop');
  const probe = new URL('event-loop.ts', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import ${probe}`, BENCH_EVENT_LOOP: loopFile };
  const stack = await startStack({ overrides: { api: { env } } });
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const { admin } = await client.workspaces.create({ slug: 'attacker', admin: 'eve' });
    const attacker = createClient({ apiUrl: stack.apiUrl, token: admin.token });
    const print = `yes ${'a'.repeat(60)} | head -n ${small ? 100_000 : 1_000_000}`;
    const { number } = await attacker.jobs.create({ command: ['sh', '-c', print] });
    await attacker.jobs.wait(number);
    const sender = { apiUrl: stack.apiUrl, token: stack.token };
    const read = () => ask(agent, sender, { path: '/v1/jobs', isTimed: true });
    const measured = async (): Promise<Measured> => {
      await writeFile(loopFile, '');
      const times = await measure(seconds, read);
      const lines = (await readFile(loopFile, 'utf8')).split('\n').map((line) => line.split(' '));
      const of = (kind: string) => lines.flatMap(([name, ms]) => (name === kind ? [Number(ms)] : []));
      return { times, served: of('served').toSorted((a, b) => a - b), heldMs: Math.max(0, ...of('held')) };
    };
    await measured();
    for (const { name: attack } of attacksOn(number)) {
      const quiet = await measured();
      const end = await beginAttack({ name: attack, job: number, apiUrl: stack.apiUrl, token: admin.token });
      const attacked = await measured();
      const statuses = Object.entries(await end()).map(([status, count]) => `${count} x ${status}`);
      report.say(`${attack} (${statuses.join(', ')})`);
      compare(report, "the neighbour's requests", quiet.times, attacked.times);
      compare(report, 'processor time of the API meanwhile', quiet.served, attacked.served);
      report.figure('  processor time of the API without a break, at most', attacked.heldMs, 'ms');
    }
  } finally {
    agent.destroy();
    await stack.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Measured {
  /** By the clock, in ascending order. */
  times: number[];
  /** Processor time of the API's main thread from the sending of each request to its answer. */
  served: number[];
  heldMs: number;
}

function compare(report: Report, what: string, quiet: number[], attacked: number[]): void {
  for (const [name, of] of [
    ['p50', (values: number[]) => quantile(values, 0.5)],
    ['mean', (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length],
    ['p99', (values: number[]) => quantile(values, 0.99)],
  ] as const) {
    report.figure(`  ${what}, ${name}, quiet`, of(quiet), 'ms');
    report.figure(`  ${what}, ${name}, attacked`, of(attacked), 'ms');
    report.figure(`  ${what}, ${name}, ratio`, of(attacked) / of(quiet), 'x');
  }
}

/** Sends the requests of an attack until the returned function is called, which resolves with the number of answers by status. */
async function beginAttack(order: OrderOfAttack): Promise<() => Promise<Record<string, number>>> {
  const attacker = fork(fileURLToPath(new URL('attacker.ts', import.meta.url)));
  attacker.send(order);
  await once(attacker, 'message');
  return async () => {
    attacker.send('stop');
    const [statuses] = await once(attacker, 'message');
    return answers.parse(statuses);
  };
}

/** The times of requests, in ascending order. A waiting request does not delay the next one. */
async function measure(seconds: number, send: () => Promise<number>): Promise<number[]> {
  const times: Promise<number>[] = [];
  const startedAtMs = performance.now();
  for (let at = 0; at < seconds * 1_000; at += askEveryMs) {
    await sleep(Math.max(0, startedAtMs + at - performance.now()));
    const askedAtMs = performance.now();
    times.push(send().then(() => performance.now() - askedAtMs));
  }
  return (await Promise.all(times)).toSorted((a, b) => a - b);
}
