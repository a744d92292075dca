// Sidecars of a job: sealed for its instances, and refused where no instance could start them.
import { expect, it } from 'vitest';

import type { CreateJob } from '../../schema/jobs.ts';
import { createTestApi } from './support.ts';

const registryAuth = { 'ghcr.io': { auth: Buffer.from('ada:hunter2').toString('base64') } };
const sidecars: CreateJob['schedulerSidecars'] = [
  { name: 'cache', container: 'redis:8', command: ['redis-server'], env: { PASSWORD: 'hush' }, ports: [6379] },
  { name: 'plain', container: 'ghcr.io/me/x:1', ignoreEntrypoint: true },
];

it('the sidecars of a job lie sealed with its command', async () => {
  const api = await createTestApi();
  const body = { command: ['true'], schedulerSidecars: sidecars, registryAuth };
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(201);
  const key = api.objects.keys().find((each) => each.startsWith('vault/')) ?? '';
  const sealed = JSON.parse(Buffer.from((await api.vault.open(key)) ?? []).toString());
  expect(sealed.sidecars).toEqual([
    {
      ...{ name: 'cache', command: ['redis-server'], env: { PASSWORD: 'hush' } },
      container: { image: 'redis:8', ignoreEntrypoint: false, registryAuth },
    },
    {
      name: 'plain',
      command: [],
      env: {},
      container: { image: 'ghcr.io/me/x:1', ignoreEntrypoint: true, registryAuth },
    },
  ]);
  expect(api.logged.join()).not.toContain('hush');
});

it.each([
  [
    [
      { name: 'a', container: 'x' },
      { name: 'a', container: 'y' },
    ],
    'two sidecars have the name a',
  ],
  [[{ name: 'a', container: '--privileged' }], 'the name of an image'],
  [[{ name: 'a b', container: 'x' }], 'letters, digits'],
  [[{ name: 'a', container: 'x', command: ['a\0b'] }], 'cannot contain a NUL'],
  [Array.from({ length: 6 }, (_, at) => ({ name: `a${at}`, container: 'x' })), 'schedulerSidecars'],
])('%j is refused', async (schedulerSidecars, why) => {
  const api = await createTestApi();
  const answer = await api.call('POST', '/v1/jobs', { body: { command: ['true'], schedulerSidecars } });
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(why)]);
});
