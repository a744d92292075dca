// The watchdog timeout of a request reaches the agents by the specification.
import { describe, expect, it } from 'vitest';

import { createTestApi, launch, type TestApi } from './support.ts';

const instance = 'i_head0000';

async function limitOf(api: TestApi, number: number): Promise<number> {
  launch(api, number, instance);
  const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq: 1 });
  const body = { instance, bootId: 'boot-0000000000000000', address: '127.0.0.1', version: '0.1.0', pid: 42 };
  return (await (await api.call('POST', '/v1/agent/register', { token, body })).json()).watchdogTimeoutMs;
}

const script = (line: string) => ({
  command: ['run.sh'],
  files: [{ path: 'run.sh', content: Buffer.from(`#!/bin/sh\n# ROPEWALK ${line}\n`).toString('base64') }],
});

describe('the watchdog timeout', () => {
  it('is 30 minutes for a job unless it, or its script, says otherwise', async () => {
    const api = await createTestApi();
    expect(await limitOf(api, await api.submit({}))).toBe(1_800_000);
    expect(await limitOf(api, await api.submit({ watchdogTimeout: '2 hours' }))).toBe(7_200_000);
    expect(await limitOf(api, await api.submit(script('watchdog-timeout 45 minutes')))).toBe(2_700_000);
  });

  it('is 30 minutes for a cluster unless it says otherwise', async () => {
    const api = await createTestApi();
    expect(await limitOf(api, await api.startCluster())).toBe(1_800_000);
    expect(await limitOf(api, await api.startCluster({ watchdogTimeout: 90 }))).toBe(90_000);
  });

  it('is refused by name where it would end agents at once or never', async () => {
    const api = await createTestApi();
    for (const path of ['/v1/jobs', '/v1/clusters']) {
      for (const watchdogTimeout of ['4 s', '8 days', 'soon']) {
        const body = path === '/v1/jobs' ? { command: ['true'], watchdogTimeout } : { watchdogTimeout };
        const response = await api.call('POST', path, { body });
        const { error } = await response.json();
        expect([response.status, error.code, error.field]).toEqual([422, 'VALIDATION', 'watchdogTimeout']);
      }
    }
  });
});
