// Whether the timing of a refusal reveals anything: a wrong secret of a known token against an unknown token, and another
// workspace's job against a missing one. Each pair is requested back to back, in either order, on one connection.
import { Agent, request } from 'node:http';

import { createClient } from '../sdk/client.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';
import { summarise } from './statistics.ts';

interface Question {
  path: string;
  token: string;
  status: number;
}

export async function denialsBench(
  report: Report,
  { small, rounds = small ? 100 : 1_000 }: BenchOptions,
): Promise<void> {
  const stack = await startStack();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const { admin } = await client.workspaces.create({ slug: 'other', admin: 'eve' });
    const theirs = createClient({ apiUrl: stack.apiUrl, token: admin.token });
    const { number } = await theirs.jobs.create({ command: ['true'] });
    await theirs.jobs.wait(number);
    const [head = '', id = ''] = /^(rw_[^_]+_)([a-z0-9]{12})-/.exec(stack.token)?.slice(1) ?? [];
    const secret = 'A'.repeat(43);
    const refused = { path: '/v1/whoami', status: 401 };
    const missing = { token: stack.token, status: 404 };
    await compare(report, agent, stack.apiUrl, rounds, 'a wrong secret and an unknown token', [
      { ...refused, token: `${head}${id}-${secret}` },
      { ...refused, token: `${head}zzzzzzzzzzzz-${secret}` },
    ]);
    await compare(report, agent, stack.apiUrl, rounds, "another workspace's job and none", [
      { ...missing, path: `/v1/jobs/${number}` },
      { ...missing, path: '/v1/jobs/999999' },
    ]);
  } finally {
    agent.destroy();
    await stack.stop();
  }
}

async function compare(
  report: Report,
  agent: Agent,
  apiUrl: string,
  rounds: number,
  what: string,
  [first, second]: [Question, Question],
): Promise<void> {
  const times: { first: number[]; second: number[] } = { first: [], second: [] };
  for (let round = -50; round < rounds; round += 1) {
    const swapped = round % 2 === 0;
    const one = await ask(agent, apiUrl, swapped ? second : first);
    const two = await ask(agent, apiUrl, swapped ? first : second);
    // The first ones fill caches.
    if (round < 0) continue;
    times.first.push(swapped ? two : one);
    times.second.push(swapped ? one : two);
  }
  report.figure(`${what}: the one`, times.first, 'ms');
  report.figure(`${what}: the other`, times.second, 'ms');
  const apart = Math.abs(summarise(times.first).median - summarise(times.second).median);
  report.figure('  their medians apart', apart, 'ms');
}

function ask(agent: Agent, apiUrl: string, { path, token, status }: Question): Promise<number> {
  const { hostname, port } = new URL(apiUrl);
  const askedAtMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request({ hostname, port, path, agent, headers }, (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === status) resolve(performance.now() - askedAtMs);
        else reject(new Error(`${path} was answered ${answer.statusCode}, not ${status}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
