// `ropewalk destroy --by-tag` without a live control plane: no Temporal, no API, no Temporal worker. The oracle is the process table.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createClient } from '../../sdk/client.ts';
import { createBench, type Bench } from '../agent/harness.ts';
import { runCli } from '../cli/run-cli.ts';
import { type AgentApi, startAgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { agentPids, isAlive, read } from '../support/kills.ts';
import { startStack } from '../support/stack.ts';

describe('ropewalk destroy --by-tag', () => {
  it('ends every agent and task of a stack whose every other process was killed', async () => {
    const stack = await startStack();
    try {
      const jobs = createClient({ apiUrl: stack.apiUrl, token: stack.token }).jobs;
      const { number } = await jobs.create({ command: ['sleep', '600'], ntasks: 3 });
      await eventually(async () => (await jobs.get(number)).tasks.running === 3);
      const agents = agentPids(stack.home);
      const children = Object.values(await stack.childPids());
      for (const pid of [stack.dev.pid ?? 0, ...children]) process.kill(pid, 'SIGKILL');
      await eventually(() => children.every((pid) => !isAlive(pid)));
      expect([agents.size, [...agents.values()].every(isAlive)]).toEqual([3, true]);

      const { deploymentId } = z.object({ deploymentId: z.string() }).parse(read(join(stack.home, 'host.json')));
      const { code, stdout, stderr } = await runCli(['destroy', '--by-tag'], {
        env: { ROPEWALK_HOME: stack.home },
        input: `${deploymentId}\n`,
      });
      expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, 'ended 3 instances']);
      expect(stderr).toContain('This terminates 3 instances and all that runs there.');
      expect(await processesOfHome(stack.home)).toEqual([]);
      expect([...agents.values()].some(isAlive)).toBe(false);
    } finally {
      await stack.stop();
    }
  });

  describe('among several deployments', () => {
    let bench: Bench;
    let api: AgentApi;
    beforeEach(async () => {
      bench = await createBench();
      api = await startAgentApi();
    });
    afterEach(async () => {
      await bench.remove();
      await api.close();
    });

    async function launch(deploymentId: string, cluster: number): Promise<number> {
      const { launched } = await bench.provider.launch({
        owner: { deploymentId, workspace: 'default', cluster },
        clusterName: 'planted',
        token: `${deploymentId} ${cluster}`,
        slots: [{ slot: 0, generation: 1, role: 'worker' }],
        apiUrl: api.url,
        launchToken: api.launchToken,
      });
      return agentPids(bench.home).get(launched[0]?.id ?? '') ?? 0;
    }

    it('ends those of the one that was named, of all its clusters, and no others', async () => {
      const [one, two, other] = [await launch('dep_a', 1), await launch('dep_a', 2), await launch('dep_b', 1)];
      expect([one, two, other].every(isAlive)).toBe(true);
      const destroy = (...words: string[]): ReturnType<typeof runCli> =>
        runCli(['destroy', '--by-tag', '--deployment', 'dep_a', ...words], { env: { ROPEWALK_HOME: bench.home } });

      const dry = await destroy('--dry-run', '--format', 'json');
      const searched = [{ provider: 'local', regions: [], accounts: [] }];
      expect([dry.code, JSON.parse(dry.stdout)]).toMatchObject([0, { searched, found: [{}, {}], terminated: [] }]);
      expect([one, two, other].map(isAlive)).toEqual([true, true, true]);

      const done = await destroy('--yes', '--format', 'json');
      expect([done.code, JSON.parse(done.stdout).terminated.length]).toEqual([0, 2]);
      expect([one, two, other].map(isAlive)).toEqual([false, false, true]);
      expect((await destroy('--yes')).stdout.trim().split('\n')).toEqual([
        'deployment dep_a: 0 instances',
        '  searched: this machine',
        '  not searched: AWS EC2, because ROPEWALK_AWS_SETTINGS is not set',
        '  not searched: Google Compute Engine, because ROPEWALK_GCP_SETTINGS is not set',
      ]);
      await writeFile(join(bench.home, 'aws.json'), '{}');
      const unsearched = await destroy('--yes');
      expect([unsearched.code, unsearched.stderr]).toEqual([
        1,
        expect.stringContaining(`ROPEWALK_AWS_SETTINGS=${join(bench.home, 'aws.json')}`),
      ]);
    });

    it('ends nothing when its id is not typed, and asks for a way to find them', async () => {
      const pid = await launch('dep_a', 1);
      const env = { ROPEWALK_HOME: bench.home };
      const words = ['destroy', '--by-tag', '--deployment', 'dep_a'];
      const wrong = await runCli(words, { env, input: 'yes\n' });
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        expect.stringContaining('this is not its id; nothing was terminated'),
      ]);
      const unconfirmed = await runCli(words, { env });
      expect([unconfirmed.code, unconfirmed.stderr]).toEqual([
        1,
        expect.stringContaining('not confirmed; nothing was terminated'),
      ]);
      const homeless = await runCli(['destroy', '--by-tag', '--yes'], { env });
      expect([homeless.code, homeless.stderr]).toEqual([1, expect.stringContaining('the deployment is unknown')]);
      expect((await runCli(['destroy'], { env })).code).toBe(2);
      expect(isAlive(pid)).toBe(true);
    });
  });
});
