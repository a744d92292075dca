// The local provider reports the crash of an agent at once; an agent that is terminated, or ends by itself, is no crash.
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createLocalProvider } from '../../providers/local/provider.ts';
import { isSameProcess } from '../../providers/local/processes.ts';
import type { LaunchRequest, Owner } from '../../providers/provider.ts';
import { createBench, launchAgent, readClaim } from '../agent/harness.ts';
import type { Agent, Bench } from '../agent/harness.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';

let bench: Bench;
let api: AgentApi;
let crashes: { owner: Owner; id: string }[];
beforeEach(async () => {
  crashes = [];
  bench = await createBench();
  api = await startAgentApi();
});
afterEach(async () => {
  await bench.remove();
  await api.close();
});

/** Launched by a provider that reports crashes; ended with the bench. */
function launch(): Promise<Agent> {
  const onCrash = (owner: Owner, id: string): void => void crashes.push({ owner, id });
  const reporting = createLocalProvider({ ...bench.options, environment: process.env, onCrash });
  const { provider: recording } = bench;
  const provider = {
    ...reporting,
    launch: async (request: LaunchRequest) => {
      const outcome = await reporting.launch(request);
      // The bench finds it launched already, and ends it with its own.
      await recording.launch(request);
      return outcome;
    },
  };
  return launchAgent({ ...bench, provider }, api);
}

it('reports a killed agent once, with its owner', async () => {
  const agent = await launch();
  process.kill(agent.pid, 'SIGKILL');
  await eventually(() => crashes.length > 0);
  expect(crashes).toEqual([{ owner: agent.owner, id: agent.id }]);
});

it('reports no agent that was terminated, nor one that has nothing left to do', async () => {
  const [terminated, released] = [await launch(), await launch()];
  const identity = await readClaim(released.directory);
  await terminated.terminate();
  api.answer.stop = { code: 'JOB_OVER', text: 'The job has ended.' };
  await eventually(async () => !(await isSameProcess(identity)));
  // A later kill is reported: by then reports of the others would have arrived.
  api.answer.stop = null;
  const killed = await launch();
  process.kill(killed.pid, 'SIGKILL');
  await eventually(() => crashes.length > 0);
  expect(crashes.map(({ id }) => id)).toEqual([killed.id]);
});
