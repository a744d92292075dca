// Agents that end on a real stack: a killed one is replaced long before its lease ends, and those that lost their control plane
// end by themselves; the job continues after the recovery. All leases here are an hour: none expires.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { agentPids } from '../support/kills.ts';
import { makeHome, removeHome, startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

describe('an agent that ends', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-agent-ends-'));
  let home: string;
  let stack: TestStack;
  beforeAll(async () => {
    home = await makeHome();
  });
  afterEach(() => stack.stop());
  afterAll(async () => {
    rmSync(out, { recursive: true, force: true });
    await removeHome(home);
  });

  const clientOf = ({ apiUrl, token }: TestStack): Client => createClient({ apiUrl, token });
  const attempts = (name: string): string => readFileSync(join(out, name), 'utf8');
  /** A job whose first attempt never ends. */
  const submit = async (name: string, more: object): Promise<number> => {
    const script = 'echo "$ROPEWALK_TASK_ATTEMPT" >> "$OUT"; [ "$ROPEWALK_TASK_ATTEMPT" = 1 ] && sleep 600; true';
    const env = { OUT: join(out, name) };
    const job = { command: ['bash', '-c', script], env, lease: '1 hour', ...more };
    const { number } = await clientOf(stack).jobs.create(job);
    await eventually(() => attempts(name) === '1\n');
    return number;
  };
  const expectDone = async (number: number, name: string): Promise<void> => {
    const jobs = clientOf(stack).jobs;
    await eventually(async () => (await jobs.get(number)).status === 'done', { timeoutMs: 120_000 });
    expect((await jobs.get(number)).counters).toMatchObject({ lost: 1 });
    expect(attempts(name)).toBe('1\n2\n');
  };

  it('because it was killed is noticed by the provider on its host, and replaced', async () => {
    stack = await startStack({ home });
    const number = await submit('killed', {});
    const [pid] = agentPids(home).values();
    process.kill(pid ?? Number.NaN, 'SIGKILL');
    await expectDone(number, 'killed');
  });

  it('because its control plane is gone ends its task too', async () => {
    stack = await startStack({ home });
    const number = await submit('alone', { watchdogTimeout: '5 s' });
    const children = Object.values(await stack.childPids());
    // The supervisor first, or it would restart the others.
    for (const pid of [stack.dev.pid ?? Number.NaN, ...children]) process.kill(pid, 'SIGKILL');
    await eventually(async () => (await processesOfHome(home)).length === 0);
    expect(attempts('alone')).toBe('1\n');
    stack = await startStack({ home });
    await expectDone(number, 'alone');
  });
});
