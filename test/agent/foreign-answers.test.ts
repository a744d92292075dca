// Answers of other servers: a proxy or a captive portal may answer in the API's place for a while, with any status. Only an
// answer that proves to be the API's own ends an agent or discards a result.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { jsonBy } from '../../agent/api-client/client.ts';
import { createApiClient } from '../../agent/api-client/client.ts';
import { errorHeader } from '../../schema/agent.ts';
import { environment } from '../builders/environment.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { createDaskApi } from '../support/dask-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

const statuses = [302, 400, 401, 403, 404, 410, 413];

describe('an agent', () => {
  let bench: Bench;
  let api: AgentApi;
  let agent: Agent;
  beforeAll(async () => void (bench = await createBench()));
  afterAll(() => bench.remove());
  afterEach(async () => {
    await agent.terminate();
    await api.close();
  });

  const refusedRequest = async (): Promise<void> => {
    const before = api.arrivals.length;
    await eventually(() => api.arrivals.length > before);
  };
  const resultOf = (task: number) => eventually(() => api.results().find((result) => result.task === task));

  it('registers and works on after a proxy has answered, whatever the status', async () => {
    api = await startAgentApi({ command: ['true'] });
    api.proxyAnswers = 404;
    agent = await launchAgent(bench, api);
    await refusedRequest();
    for (const [task, status] of statuses.entries()) {
      api.proxyAnswers = status;
      await refusedRequest();
      api.proxyAnswers = null;
      api.enqueue(task);
      expect(await resultOf(task)).toMatchObject({ exitCode: 0 });
    }
    expect(api.registrations).toHaveLength(1);
    expect(await agent.hasEnded()).toBe(false);
    const said = (await agent.lines()).map(({ text }) => text).join('\n');
    expect(said).toMatch(/answered 404, and the answer is not the API's/);
  });

  it('of a Dask cluster keeps its report and its orders until the API answers again', async () => {
    api = await startAgentApi();
    api.dask = await createDaskApi({ runtime: { kind: 'environment', ...environment(['-x']) } });
    api.proxyAnswers = 404;
    agent = await launchAgent(bench, api);
    await refusedRequest();
    api.proxyAnswers = null;
    await eventually(() => api.registrations.length === 1);
    api.proxyAnswers = 403;
    await refusedRequest();
    await refusedRequest();
    api.proxyAnswers = null;
    await eventually(() => api.reports.some(({ process }) => process?.state === 'error'));
    expect(await agent.hasEnded()).toBe(false);
    api.dask.update({ stop: { code: 'IDLE', text: 'nothing was computed' } });
    await eventually(() => agent.hasEnded());
    expect((await agent.lines()).at(-1)?.text).toBe('The agent ends: nothing was computed (IDLE)');
  });
});

describe('an error', () => {
  const reply = async (status: number, headers: Record<string, string>) => {
    const api = await startAgentApi();
    try {
      api.failures.push({ status, headers });
      const client = createApiClient({ apiUrl: api.url, signal: AbortSignal.timeout(60_000), onTrouble: () => {} });
      return await client.call({ method: 'GET', path: '/v1/x', token: () => 'none', read: jsonBy((json) => json) });
    } finally {
      await api.close();
    }
  };

  it('of the API is final by its status', async () => {
    expect(await reply(401, {})).toEqual({ kind: 'unauthenticated' });
    for (const status of [403, 404, 410]) expect(await reply(status, {})).toMatchObject({ kind: 'ended' });
    for (const status of [400, 413, 422])
      expect(await reply(status, {})).toMatchObject({ kind: 'refused', isOurs: true });
  });

  it('whose header and body differ is not the API`s', async () => {
    for (const status of [401, 403, 404, 410, 422]) {
      const answer = await reply(status, { [errorHeader]: 'NOT_FOUND' });
      expect(answer).toMatchObject({ kind: 'refused', isOurs: false });
    }
  });
});
