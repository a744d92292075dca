// Real agents whose tasks take milliseconds: they hold several leases, and run them one after the other.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Bundle } from '../../schema/agent.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

let bench: Bench;
let scratch: string;
let api: AgentApi;
let agent: Agent;

beforeAll(async () => {
  bench = await createBench();
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-short-'));
});
afterAll(async () => {
  await bench.remove();
  await rm(scratch, { recursive: true, force: true });
});
afterEach(async () => {
  await agent.terminate();
  await api.close();
});

async function start(bundle: Partial<Bundle>, taskIds: number[], prepare: (api: AgentApi) => void) {
  api = await startAgentApi(bundle);
  prepare(api);
  api.enqueue(...taskIds);
  agent = await launchAgent(bench, api);
}

const resultOf = (task: number) => eventually(() => api.results().find((result) => result.task === task));
const output = async (task: number): Promise<string[]> =>
  (await agent.lines({ tasks: new Set([task]) })).map((line) => line.text);

describe('short tasks', () => {
  const ids = Array.from({ length: 60 }, (_, at) => at);

  it('travel several at a time, run one after the other, and each has one result', async () => {
    const runs = join(scratch, 'turns');
    const script = 'echo "+$ROPEWALK_BATCH_TASK_ID" >> "$1"; echo "-$ROPEWALK_BATCH_TASK_ID" >> "$1"';
    await start({ command: ['sh', '-c', script, 'sh', runs] }, ids, (fresh) => (fresh.answer.mayHold = 32));
    await eventually(() => api.results().length >= ids.length);
    expect((await readFile(runs, 'utf8')).trim().split('\n')).toEqual(ids.flatMap((id) => [`+${id}`, `-${id}`]));
    expect(api.results().map(({ task }) => task)).toEqual(ids);
    expect(Math.max(...api.exchanges.map(({ want }) => want))).toBeGreaterThan(1);
    expect(api.exchanges.filter(({ results }) => results.length > 0).length).toBeLessThan(ids.length);
    await eventually(async () => (await readdir(join(agent.directory, 'results'))).length === 0);
  });

  it('are returned when one of them turns out long', async () => {
    const script = 'if [ $ROPEWALK_BATCH_TASK_ID = 1 ]; then exec sleep 1000; fi';
    await start({ command: ['sh', '-c', script] }, ids, (fresh) => (fresh.answer.mayHold = 32));
    const { returned, running } = await eventually(() => api.exchanges.find((each) => each.returned !== undefined));
    expect(running).toEqual([2]);
    const granted = api.exchanges.reduce((sum, { want }) => sum + want, 0);
    expect(returned).toEqual(Array.from({ length: granted - 2 }, (_, at) => at + 3));
    expect((returned ?? []).length).toBeGreaterThan(0);
  });

  it('see the addresses that are not sent again', async () => {
    const show = 'echo "$ROPEWALK_BATCH_READY_WORKERS"';
    await start({ command: ['sh', '-c', show] }, [0], (fresh) => {
      Object.assign(fresh.answer, { readyWorkers: ['10.0.0.1', '10.0.0.2'], addresses: 'mark-1' });
    });
    await resultOf(0);
    api.answer.readyWorkers = [];
    api.enqueue(1);
    await resultOf(1);
    expect(await output(1)).toEqual(['10.0.0.1,10.0.0.2']);
    expect(api.exchanges.at(-1)?.addressesSeen).toBe('mark-1');
    Object.assign(api.answer, { readyWorkers: ['10.0.0.3'], addresses: 'mark-2' });
    api.enqueue(2);
    await resultOf(2);
    expect(await output(2)).toEqual(['10.0.0.3']);
  });
});
