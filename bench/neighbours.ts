// The effect of one workspace's requests on another's: the times of a neighbour's reads while an attacker sends the requests
// that cost the API most per byte, against the times without, before and after each attack.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient } from '../sdk/client.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';
import { quantile } from './statistics.ts';

interface Attack {
  name: string;
  method?: 'GET' | 'POST';
  path: string;
  body?: string;
  /** Concurrent requests; each is followed by the next one at once, or after `pauseMs`. */
  atOnce: number;
  pauseMs?: number;
}

const askEveryMs = 20;

export async function neighboursBench(report: Report, { small }: BenchOptions): Promise<void> {
  const seconds = small ? 3 : 15;
  const stack = await startStack();
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const { admin } = await client.workspaces.create({ slug: 'attacker', admin: 'eve' });
    const attacker = createClient({ apiUrl: stack.apiUrl, token: admin.token });
    const print = `yes ${'a'.repeat(60)} | head -n ${small ? 100_000 : 1_000_000}`;
    const { number } = await attacker.jobs.create({ command: ['sh', '-c', print] });
    await attacker.jobs.wait(number);
    const send = (token: string, attack: Attack) => ask(agent, stack.apiUrl, token, attack);
    const read = { name: 'a read', path: '/v1/jobs', atOnce: 1 };
    await measure(seconds, () => send(stack.token, read));
    for (const attack of attacksOn(number)) {
      const quiet = await measure(seconds, () => send(stack.token, read));
      const stop = new AbortController();
      const statuses = new Map<number, number>();
      const attacking = Array.from({ length: attack.atOnce }, async () => {
        while (!stop.signal.aborted) {
          const status = await send(admin.token, attack);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          // Refused clients wait as requested; an attacker waits as little as possible.
          await sleep(attack.pauseMs ?? 1);
        }
      });
      const under = await measure(seconds, () => send(stack.token, read));
      stop.abort();
      await Promise.all(attacking);
      const answers = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ');
      report.say(`${attack.name} (${answers})`);
      for (const [name, share] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const) {
        report.figure(`  ${name} of the neighbour, quiet`, quantile(quiet, share), 'ms');
        report.figure(`  ${name} of the neighbour, attacked`, quantile(under, share), 'ms');
        report.figure(`  ${name}, ratio`, quantile(under, share) / quantile(quiet, share), 'x');
      }
    }
  } finally {
    agent.destroy();
    await stack.stop();
  }
}

const script = (text: string): string =>
  JSON.stringify({ command: ['./a'], files: [{ path: 'a', content: Buffer.from(text).toString('base64') }] });

function attacksOn(job: number): Attack[] {
  const plan = { method: 'POST', path: '/v1/plans/jobs' } as const;
  const submit = { method: 'POST', path: '/v1/jobs' } as const;
  const options = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`none-${n}`, '']));
  const inputFiles = Array.from({ length: 8_000 }, (_, n) => ({
    ...{ path: `${'a/'.repeat(190)}${n}`, sha256: '0'.repeat(64), bytes: 1 },
  }));
  const variables = `[${'{"A":"1"},'.repeat(300_000)}{"A":"1"}]`;
  return [
    { name: 'reads of lists, 50 at once', path: '/v1/jobs', atOnce: 50 },
    {
      name: 'a script of 11.5 MB of carriage returns, each second',
      ...submit,
      body: script('\r'.repeat(11_500_000)),
      atOnce: 1,
      pauseMs: 1_000,
    },
    {
      name: 'a duration of 60,000 digits in a header',
      ...plan,
      body: script(`# ROPEWALK task-timeout ${'1'.repeat(60_000)}!\n`),
      atOnce: 4,
    },
    { name: '200 unknown options', ...plan, body: JSON.stringify({ command: ['true'], options }), atOnce: 4 },
    { name: '8,000,000 levels of JSON', ...submit, body: `{"command":${'['.repeat(8_000_000)}`, atOnce: 2 },
    {
      name: '8,000 input files of 190 levels',
      ...plan,
      body: JSON.stringify({ command: ['true'], inputFiles }),
      atOnce: 2,
    },
    {
      name: '300,000 sets of variables',
      ...plan,
      body: `{"command":["true"],"mapOver":{"variables":${variables}}}`,
      atOnce: 2,
    },
    {
      name: 'logs of 60 MB of which no line is wanted, 20 at once',
      path: `/v1/jobs/${job}/logs?since=2100-01-01T00:00:00Z`,
      atOnce: 20,
    },
  ];
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

/** Resolves with the status when the whole answer has arrived. */
function ask(agent: Agent, apiUrl: string, token: string, { method = 'GET', path, body }: Attack): Promise<number> {
  const { hostname, port } = new URL(apiUrl);
  return new Promise((resolve, reject) => {
    const sized =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const headers = { authorization: `Bearer ${token}`, ...sized };
    const sent = request({ hostname, port, method, path, agent, headers }, (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A body over the rate is answered before all of it was sent.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(0);
      else reject(error);
    });
    sent.end(body);
  });
}
