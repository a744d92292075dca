// The API's memory under clients that request much and read little: streams of logs and events whose readers do not read, and
// slowly arriving bodies of the maximum size. Meanwhile the API serves another client; afterwards the memory is released.
import { Agent, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient } from '../sdk/client.ts';
import { eventually } from '../test/support/eventually.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import { residentMb } from './processes.ts';
import type { Report } from './report.ts';

/** The maximum per token. */
const streamsOfToken = 100;
const bodyBytes = 15 * 1024 * 1024;

export async function memoryBench(report: Report, { small }: BenchOptions): Promise<void> {
  const tokens = small ? 1 : 5;
  const bodies = small ? 4 : 20;
  const logMb = small ? 4 : 40;
  const seconds = small ? 5 : 30;
  const stack = await startStack();
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const open: ClientRequest[] = [];
  const { hostname, port } = new URL(stack.apiUrl);
  const send = (method: string, path: string, token: string, headers: Record<string, string | number> = {}) => {
    const sent = request({
      ...{ hostname, port, agent, method, path },
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    sent.on('error', () => undefined);
    open.push(sent);
    return sent;
  };
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const pid = (await stack.childPids())['api'] ?? 0;
    const print = `head -c ${logMb * 1024 * 1024} /dev/zero | tr '\\0' 'x' | fold -w 1000; sleep 600`;
    const { number } = await client.jobs.create({ command: ['sh', '-c', print] });
    await eventually(async () => (await client.jobs.get(number)).status === 'running', { timeoutMs: 60_000 });
    const idleMb = await residentMb(pid);

    let refused = 0;
    for (let n = 0; n < tokens; n += 1) {
      const { token } = await client.tokens.create({ name: `reader-${n}` });
      for (let stream = 0; stream < streamsOfToken; stream += 1) {
        const what = stream % 2 === 0 ? 'logs' : 'events';
        const sent = send('GET', `/v1/jobs/${number}/${what}?follow=true`, token);
        // The client never reads the answer.
        sent.on('response', (answer: IncomingMessage) => {
          answer.pause();
          if (answer.statusCode !== 200) refused += 1;
        });
        sent.end();
      }
    }
    const piece = Buffer.alloc(bodyBytes / (seconds * 10), 'x');
    const uploads = Array.from({ length: bodies }, () =>
      send('POST', '/v1/jobs', stack.token, { 'content-type': 'application/json', 'content-length': bodyBytes }),
    );
    const memory: number[] = [];
    const served: number[] = [];
    for (let tick = 0; tick < seconds * 10; tick += 1) {
      for (const upload of uploads) upload.write(piece);
      const askedAtMs = performance.now();
      await client.whoami();
      served.push(performance.now() - askedAtMs);
      memory.push(await residentMb(pid));
      await sleep(100);
    }
    report.figure('the API with nothing to do', idleMb, 'MB');
    report.figure(
      `${tokens * streamsOfToken} streams that no client reads, ${bodies} slow bodies of 15 MiB`,
      memory,
      'MB',
    );
    report.figure('  at most', Math.max(...memory), 'MB');
    report.figure('  streams refused', refused, 'streams');
    report.figure('  whoami of another client', served, 'ms');
    for (const each of open) each.destroy();
    await sleep(seconds * 500);
    report.figure('  and afterwards', await residentMb(pid), 'MB');
  } finally {
    for (const each of open) each.destroy();
    agent.destroy();
    await stack.stop();
  }
}
