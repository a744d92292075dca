// The cost of watching users: 1,000 pages with an open stream each (or --watchers N), half of them of one job, half of the list
// of jobs, which has 100,000 rows; while nothing changes, and while the job runs. All readers read.
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { databasePlace } from '../ops/database.ts';
import { createClient, type Client } from '../sdk/client.ts';
import { createDeploymentStore } from '../store/deployment.ts';
import { openSqliteFile } from '../store/sqlite/database.ts';
import { eventually } from '../test/support/eventually.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import { cpuClock, residentMb } from './processes.ts';
import type { Report } from './report.ts';
import { fill } from './store/rows.ts';

/** As many as one user may have open; a workspace may have ten times as many. */
const streamsOfUser = 100;

export async function watchersBench(report: Report, { small, watchers }: BenchOptions): Promise<void> {
  const count = watchers ?? (small ? 100 : 1_000);
  const seconds = small ? 5 : 15;
  const stack = await startStack();
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const rows = small ? 1_000 : 100_000;
    await addOldJobs(stack.home, rows);
    const api = (await stack.childPids())['api'] ?? 0;
    const waiting = await client.jobs.create({ command: ['sleep', '3600'], name: 'watched' });
    await eventually(async () => (await client.jobs.get(waiting.number)).status === 'running', { timeoutMs: 60_000 });
    report.figure('the API with nothing to do, of one core', await cpuPercent(api, seconds), '%');
    report.figure('  memory', await residentMb(api), 'MB');
    const page = () => client.jobs.list({ limit: 200 });
    report.figure(`a page of 200 of ${rows} jobs`, await timed(page), 'ms');

    const ran = await client.jobs.create({ command: ['sh', '-c', 'sleep 5'], ntasks: small ? 20 : 60 });
    const paths = [`/v1/live/jobs/${ran.number}?follow=true`, '/v1/live/jobs?follow=true&limit=200'];
    const lines = await watch(stack.apiUrl, agent, client, { count, paths, users: 'watches' });
    report.figure(`${count} watchers while the job runs, of one core`, await cpuPercent(api, seconds), '%');
    report.figure('  memory', await residentMb(api), 'MB');
    report.figure('  whoami of another client', await timed(() => client.whoami()), 'ms');
    report.figure('  lines to one watcher', lines.total() / count, 'lines');
    await client.jobs.wait(ran.number);
    const endedAtMs = performance.now();
    await eventually(() => lines.ended() >= Math.ceil(count / 2), { timeoutMs: 120_000, intervalMs: 50 });
    report.figure('  until every watcher of the job has its end', (performance.now() - endedAtMs) / 1_000, 's');

    await sleep(2_000);
    const open = [`/v1/live/jobs/${waiting.number}?follow=true`];
    await watch(stack.apiUrl, agent, client, { count: Math.floor(count / 2), paths: open, users: 'waits' });
    report.figure(`${count} watchers while nothing changes, of one core`, await cpuPercent(api, seconds), '%');
    report.figure('  memory', await residentMb(api), 'MB');
    report.figure('  whoami of another client', await timed(() => client.whoami()), 'ms');
  } finally {
    agent.destroy();
    await stack.stop();
  }
}

interface Watch {
  count: number;
  /** How their names begin. */
  users: string;
  /** Taken in turn. */
  paths: readonly string[];
}

/** Resolves when each has its first line. */
async function watch(apiUrl: string, agent: Agent, client: Client, { count, paths, users }: Watch) {
  const { hostname, port } = new URL(apiUrl);
  const seen = { first: 0, total: 0, ended: 0, refused: 0 };
  const open = (token: string, path: string): void => {
    const sent = request({ ...{ hostname, port, agent, path }, headers: { authorization: `Bearer ${token}` } });
    sent.on('error', () => undefined);
    sent.on('response', (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) seen.refused += 1;
      let isFirst = true;
      answer.on('data', (bytes: Buffer) => {
        seen.total += bytes.filter((each) => each === newline).length;
        if (isFirst) seen.first += 1;
        isFirst = false;
      });
      answer.on('end', () => (seen.ended += 1));
      answer.on('error', () => undefined);
    });
    sent.end();
  };
  for (let from = 0; from < count; from += streamsOfUser) {
    const user = `${users}-${from}`;
    await client.users.set(user, { role: 'read-only' });
    const { token } = await client.tokens.create({ name: user, user });
    for (let at = from; at < Math.min(count, from + streamsOfUser); at += 1) {
      open(token, paths[at % paths.length] ?? '/');
    }
  }
  await eventually(
    () => {
      if (seen.refused > 0) throw new Error(`${seen.refused} streams were refused`);
      return seen.first === count;
    },
    { timeoutMs: 120_000, intervalMs: 50 },
  );
  return { total: () => seen.total, ended: () => seen.ended };
}

const newline = 10;

async function cpuPercent(pid: number, seconds: number): Promise<number> {
  const startedAtMs = performance.now();
  const used = await cpuClock({ pid });
  await sleep(seconds * 1_000);
  const { pid: cpu = 0 } = await used();
  return (cpu * 100_000) / (performance.now() - startedAtMs);
}

/** They have ended; the next job gets the number after them. */
async function addOldJobs(home: string, rows: number): Promise<void> {
  const database = await openSqliteFile(databasePlace({}, home).file);
  try {
    await fill(database, 'default', rows, { isEnded: true });
    await createDeploymentStore(database).reserveNumbersTo(rows);
  } finally {
    await database.close();
  }
}

async function timed(ask: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let request = 0; request < 20; request += 1) {
    const askedAtMs = performance.now();
    await ask();
    took.push(performance.now() - askedAtMs);
  }
  return took;
}
