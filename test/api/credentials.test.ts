import { X509Certificate } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { createCsr } from '../../agent/dask/csr.ts';
import { createDaskInstance, started } from './dask-support.ts';
import { createTestApi, type TestApi } from './support.ts';

const errorOf = async (response: Response) => (await response.json()).error;
const textOf = async (api: TestApi, key: string) => Buffer.from((await api.objects.get(key)) ?? []).toString();

describe('credentials', () => {
  it('wait for the scheduler, then are a client certificate of the cluster, new each time', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const head = await createDaskInstance(api, number, 0);
    const ask = () => api.call('GET', `/v1/clusters/${number}/credentials`);
    const early = await ask();
    expect([early.status, (await errorOf(early)).code, early.headers.get('retry-after')]).toEqual([
      503,
      'NOT_YET',
      '1',
    ]);
    await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
    const response = await ask();
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const issued = await response.json();
    const leaf = new X509Certificate(issued.certificate);
    expect(issued.schedulerAddress).toBe('tls://127.0.0.1:8786');
    expect(leaf.verify(new X509Certificate(issued.ca).publicKey)).toBe(true);
    expect([leaf.subject, leaf.keyUsage]).toEqual(['CN=ada\nOU=ropewalk client', ['1.3.6.1.5.5.7.3.2']]);
    expect(leaf.validToDate.toISOString()).toBe(issued.expiresAt);
    expect(Date.parse(issued.expiresAt) - api.now()).toBeGreaterThan(6.9 * 86_400_000);
    expect(Date.parse(issued.expiresAt) - api.now()).toBeLessThan(7.1 * 86_400_000);
    expect((await (await ask()).json()).key).not.toBe(issued.key);
    const keyText = issued.key.split('\n')[1];
    const kept = await Promise.all(api.objects.keys().map((key) => textOf(api, key)));
    expect([...kept, ...api.logged].join()).not.toContain(keyText);
  });

  it('come with the requirements that a client of the cluster needs, which are sealed everywhere else', async () => {
    const api = await createTestApi();
    const requirements = ['dask==2026.8.0', 'mine @ https://user:topsecret@index.example/mine.whl'];
    const number = await api.startCluster({ software: { requirements } });
    const head = await createDaskInstance(api, number, 0);
    await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
    const issued = await (await api.call('GET', `/v1/clusters/${number}/credentials`)).json();
    expect(issued.environment).toEqual(environment(requirements));
    const kept = await Promise.all(api.objects.keys().map((key) => textOf(api, key)));
    expect([...kept, ...api.logged].join()).not.toContain('topsecret');
  });

  it('are for the creator alone when the cluster is private', async () => {
    const api = await createTestApi();
    const bob = await api.addToken('default', ['read', 'write'], 'bob');
    const number = await api.startCluster({ privateToCreator: true });
    const open = await api.startCluster();
    for (const each of [number, open]) {
      const head = await createDaskInstance(api, each, 0);
      await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
    }
    const ask = (of: number, token: string) => api.call('GET', `/v1/clusters/${of}/credentials`, { token });
    const refused = await ask(number, bob);
    expect([refused.status, (await errorOf(refused)).code]).toEqual([403, 'FORBIDDEN']);
    expect([(await ask(number, api.token)).status, (await ask(open, bob)).status]).toEqual([200, 200]);
  });

  it('say nothing of an authority that cannot be read', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const head = await createDaskInstance(api, number, 0);
    await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
    const caRef = api.workflows.clusters.get(number)?.settings.dask?.caRef ?? '';
    await api.vault.seal(caRef, Buffer.from('{"keyPem":"hunter2'), { ttlMs: 60_000 });
    const broken = await api.call('GET', `/v1/clusters/${number}/credentials`);
    expect([broken.status, (await broken.text()).includes('hunter2')]).toEqual([500, false]);
    expect(api.logged.join()).not.toContain('hunter2');
    await api.vault.delete(caRef);
    expect((await api.call('GET', `/v1/clusters/${number}/credentials`)).status).toBe(409);
    expect((await head.certificate((await createCsr()).csrPem)).status).toBe(409);
  });
});
