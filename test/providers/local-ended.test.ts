// The files of ended instances on this machine are deleted after a day; never those of live instances, nor those that keep a
// repeated launch from starting them again.
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { endedInstanceKeptMs, endedMarkKeptMs, maxEndedPerRound } from '../../providers/local/limits.ts';
import { endedRecordOf, removeEnded } from '../../providers/local/ended-instances.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import type { LaunchRequest } from '../../providers/provider.ts';
import { createBench, launchAgent } from '../agent/harness.ts';
import type { Bench } from '../agent/harness.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';

let bench: Bench;
let api: AgentApi;
beforeEach(async () => {
  bench = await createBench(2);
  api = await startAgentApi();
});
afterEach(async () => {
  await bench.remove();
  await api.close();
});

const owner = { deploymentId: 'd_test', workspace: 'default', cluster: 1 };
const requestFor = (token: string, instances = 1): LaunchRequest => ({
  ...{ owner, clusterName: 'job-1', token, apiUrl: api.url, launchToken: api.launchToken },
  slots: Array.from({ length: instances }, (_, slot) => ({ slot, generation: 1, role: 'worker' as const })),
});
const directories = async (): Promise<string[]> => (await readdir(join(bench.home, 'instances'))).sort();
const soon = (): AbortSignal => AbortSignal.timeout(30_000);

/** As if nothing had been written there since. */
async function age(id: string): Promise<void> {
  const root = join(bench.home, 'instances', id);
  const then = new Date(Date.now() - endedInstanceKeptMs - 60_000);
  for (const name of await readdir(root)) await utimes(join(root, name), then, then);
  await utimes(root, then, then);
}

describe('what an ended instance has left', () => {
  it('is removed after a later launch, and a repeat of its own launch starts nothing', async () => {
    const ids = (await bench.provider.launch(requestFor('old'))).launched.map(({ id }) => id);
    const [id = ''] = ids;
    await bench.provider.terminate(owner, ids, soon());
    await age(id);
    // As a command leaves it whose agent was killed.
    await mkdir(join(bench.home, 'instances', id, 'work', 'locked'), { recursive: true, mode: 0o500 });
    await age(id);
    const another = createLocalProvider({ ...bench.options, environment: process.env });
    const fresh = (await bench.provider.launch(requestFor('fresh'))).launched.map((each) => each.id);
    await another.launch(requestFor('fresh'));
    await eventually(async () => !(await directories()).includes(id));
    expect(await directories()).toEqual(fresh);

    expect((await bench.provider.launch(requestFor('old'))).launched.map((each) => each.id)).toEqual(ids);
    expect(await directories()).toEqual(fresh);
    expect(await bench.provider.describe(owner, ids)).toMatchObject([{ id: fresh[0] }, { id, state: 'gone' }]);
  });

  it('of one that was refused goes too, and a repeat is refused as before', async () => {
    const outcome = await bench.provider.launch(requestFor('both', 3));
    expect(outcome.failures).toMatchObject([{ code: 'HOST_FULL', count: 1 }]);
    await bench.provider.terminate(
      owner,
      outcome.launched.map(({ id }) => id),
      soon(),
    );
    await removeEnded(bench.home, '', Date.now() + endedInstanceKeptMs + 60_000);
    expect(await directories()).toEqual([]);
    expect(await bench.provider.launch(requestFor('both', 3))).toEqual(outcome);
    expect(await directories()).toEqual([]);
  });

  it('stays while anything of it lives, or was written within the day', async () => {
    const alive = await launchAgent(bench, api);
    const killed = await launchAgent(bench, api);
    process.kill(killed.pid, 'SIGKILL');
    await eventually(() => killed.hasEnded());
    const both = await directories();
    await removeEnded(bench.home, '', Date.now());
    expect(await directories()).toEqual(both);
    await removeEnded(bench.home, '', Date.now() + 2 * endedInstanceKeptMs);
    expect(await directories()).toEqual([alive.id]);
    expect(await alive.hasEnded()).toBe(false);
    expect(await bench.provider.describe(alive.owner, [])).toMatchObject([{ id: alive.id, state: 'running' }]);
  });

  it('is removed in bounded rounds that follow each other, and its mark is removed with its month', async () => {
    const ids = Array.from({ length: maxEndedPerRound + 3 }, (_, index) => `i_${String(index).padStart(20, '0')}`);
    for (const id of ids) await mkdir(join(bench.home, 'instances', id), { recursive: true });
    const laterMs = Date.now() + 2 * endedInstanceKeptMs;
    const after = await removeEnded(bench.home, '', laterMs);
    expect([after, await directories()]).toEqual([ids[maxEndedPerRound - 1], ids.slice(-3)]);
    expect([await removeEnded(bench.home, after, laterMs), await directories()]).toEqual(['', []]);
    const [id = ''] = ids;
    await removeEnded(bench.home, '', laterMs + endedMarkKeptMs - 86_400_000);
    expect(await endedRecordOf(bench.home, id)).toEqual({ refusal: null });
    await removeEnded(bench.home, '', laterMs + endedMarkKeptMs + 31 * 86_400_000);
    expect([await endedRecordOf(bench.home, id), await readdir(join(bench.home, 'ended'))]).toEqual([null, []]);
  });

  it('is not removed without a mark, and then does not end the round', async () => {
    await mkdir(join(bench.home, 'instances', 'i_00000000'), { recursive: true });
    const nowMs = Date.now() + 2 * endedInstanceKeptMs;
    await mkdir(join(bench.home, 'ended'));
    await writeFile(join(bench.home, 'ended', new Date(nowMs).toISOString().slice(0, 7)), 'in the way');
    expect([await removeEnded(bench.home, '', nowMs), await directories()]).toEqual(['', ['i_00000000']]);
  });
});
