// Clouds over HTTP: the visibility of accounts and checks, and the effects of checks.
import { expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { checkDueClouds } from '../../services/clouds/clouds.ts';
import { testCloud, testHost } from './providers.ts';
import { createTestApi } from './support.ts';

const place = { region: 'us-east-1', queue: 'provider/aws/us-east-1' };
const refused = new RopewalkError({ code: 'VALIDATION', message: 'Refused.', hint: 'Give the role.' });
const provider = {
  ...testCloud({ places: [{ ...place, zones: ['us-east-1a'], offers: async () => [] }] }),
  places: [place],
  accounts: ['default', 'other', null].map((workspace) => ({ workspace, account: `of ${workspace}`, detail: '' })),
  checks: [
    { name: 'works', run: async (_: AbortSignal, deploymentId: string) => `of ${deploymentId}` },
    { name: 'refused', run: () => Promise.reject(refused) },
    { name: 'faulty', run: () => Promise.reject(new Error('a secret of the SDK')) },
    { name: 'of other', workspace: 'other', run: async () => 'theirs' },
  ],
};

it('shows an admin the accounts and checks of the workspace alone, and keeps what checks have found', async () => {
  const api = await createTestApi({ providers: [provider, testHost()] });
  const token = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
  const list = async (as = token) => (await (await api.call('GET', '/v1/clouds', { token: as })).json()).items;
  expect(await list()).toMatchObject([
    {
      ...{ name: 'aws', kind: 'cloud', regions: [{ name: 'us-east-1', zones: ['us-east-1a'] }] },
      accounts: [{ workspace: 'default' }, { workspace: null }],
      checks: ['works', 'refused', 'faulty'].map((name) => ({ name, state: 'unchecked', at: null })),
    },
    { name: 'local', kind: 'host', regions: [], accounts: [], checks: [] },
  ]);
  const checked = await api.call('POST', '/v1/cloud-checks', { token, body: { cloud: 'aws' } });
  expect((await checked.json()).checks).toMatchObject([
    { name: 'works', state: 'ok', text: 'of d_test', fix: '', at: expect.any(String) },
    { name: 'refused', state: 'broken', text: 'Refused.', fix: 'Give the role.' },
    { name: 'faulty', state: 'broken', text: 'The check could not be carried out.' },
  ]);
  const theirs = await api.addToken('other', ['read', 'write', 'admin'], 'eve', 'admin');
  const [seen] = await list(theirs);
  expect(seen.checks.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
    ...[
      ['works', 'ok'],
      ['refused', 'broken'],
      ['faulty', 'broken'],
      ['of other', 'unchecked'],
    ],
  ]);
  expect(JSON.stringify(await list())).not.toMatch(/theirs|of other|secret/);
});

it('runs each check again when its last finding is an hour old, of all workspaces, and none before', async () => {
  const api = await createTestApi({ providers: [provider, testHost()] });
  const found = async () =>
    new Map((await api.store.cloudChecks.list('aws')).map(({ name, state, atMs }) => [name, { state, atMs }]));
  await checkDueClouds(api.deps);
  const first = await found();
  expect([...first.keys()].toSorted()).toEqual(['faulty', 'of other', 'refused', 'works']);
  expect(first.get('faulty')?.state).toBe('broken');
  api.clock.offsetMs = 59 * 60_000;
  await checkDueClouds(api.deps);
  expect(await found()).toEqual(first);
  api.clock.offsetMs = 61 * 60_000;
  await checkDueClouds(api.deps);
  expect((await found()).get('works')?.atMs).toBeGreaterThan(first.get('works')?.atMs ?? Infinity);
  api.database.isUnavailable = true;
  await checkDueClouds(api.deps);
  api.database.isUnavailable = false;
});

it('refuses members, and a cloud that is not enabled', async () => {
  const api = await createTestApi();
  const member = await api.addToken('default', ['read', 'write'], 'bob', 'member');
  const admin = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
  const check = (cloud: unknown, token: string) => api.call('POST', '/v1/cloud-checks', { token, body: { cloud } });
  expect((await api.call('GET', '/v1/clouds', { token: member })).status).toBe(403);
  expect((await check('local', member)).status).toBe(403);
  expect((await check('gcp', admin)).status).toBe(404);
  expect((await check(7, admin)).status).toBe(422);
});
