// A control plane for a cloud, and a member who wants to run code on its own machine: that machine holds the cloud's keys and the key file.
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { hasPoller } from '../../ops/pollers.ts';
import { loadHost } from '../../ops/host.ts';
import { type Ec2Stack, startEc2Stack } from '../support/ec2-stack.ts';

describe('where a cloud is configured, this machine', () => {
  let ec2: Ec2Stack;
  beforeAll(async () => {
    ec2 = await startEc2Stack({ machines: false });
  });
  afterAll(() => ec2?.stop());

  const post = async (path: string, body: object) => {
    const { apiUrl, token } = ec2.stack;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${apiUrl}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };

  it.each([
    ['jobs', { command: ['sh', '-c', 'cat "$ROPEWALK_HOME/keys.json"'], provider: 'local' }],
    ['clusters', { workers: 0, provider: 'local' }],
    ['plans/jobs', { command: ['true'], provider: 'local' }],
    ['plans/clusters', { provider: 'local' }],
  ])('runs nothing of POST /v1/%s, and the answer names the setting', async (path, body) => {
    const { status, text } = await post(path, body);
    expect([status, text]).toEqual([422, expect.stringContaining('ROPEWALK_PROVIDERS')]);
    expect(text).toContain('The provider \\"local\\" is not enabled');
  });

  it('has no Temporal worker on its queue, so that nothing else can launch there either', async () => {
    const { temporalAddress, namespace, home } = ec2.stack;
    const connection = await Connection.connect({ address: temporalAddress });
    try {
      const client = new Client({ connection, namespace });
      expect(await hasPoller(client, 'provider/aws/us-east-1', 'activities')).toBe(true);
      expect(await hasPoller(client, `local/${(await loadHost(home)).hostId}`, 'activities')).toBe(false);
    } finally {
      await connection.close();
    }
  });
});
