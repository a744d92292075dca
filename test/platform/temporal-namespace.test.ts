// One deployment has one Temporal namespace: its API and its Temporal workers start with no other one.
import { expect, it } from 'vitest';

import { requireDeployment } from '../../platform/deployment.ts';
import { namespaceOf, requireNamespace } from '../../platform/temporal-namespace.ts';
import { parseKeys } from '../../platform/keys.ts';
import { memoryObjects } from './support.ts';

it('is "ropewalk" where the environment names none', () => {
  expect([namespaceOf(undefined), namespaceOf(''), namespaceOf('jobs')]).toEqual(['ropewalk', 'ropewalk', 'jobs']);
});

it('is the one that the database holds, once there is one', () => {
  expect(() => requireNamespace('jobs', { deploymentId: 'dep_1', claimed: null })).not.toThrow();
  expect(() => requireNamespace('jobs', { deploymentId: 'dep_1', claimed: 'jobs' })).not.toThrow();
  expect(() => requireNamespace('ropewalk', { deploymentId: 'dep_1', claimed: 'jobs' })).toThrow(
    'Deployment dep_1 uses the Temporal namespace jobs, not ropewalk; nothing was changed.',
  );
});

it('is checked before a process claims its object store', async () => {
  const objects = memoryObjects();
  const text = JSON.stringify({ current: 'k1', keys: { k1: Buffer.alloc(32).toString('base64') } });
  const keys = parseKeys(text, { name: 'keys', hint: '' });
  const parts = { home: '/nowhere', bucket: null, objects, keys, namespace: 'ropewalk' };
  const claims = { claimObjectStore: async (id: string) => id, claimKeys: async () => ({ do: 'keep' }) as const };
  const deployment = { deploymentId: 'dep_1', temporalNamespace: 'jobs', keys: null, claims };
  await expect(requireDeployment(parts, deployment)).rejects.toMatchObject({
    problem: { code: 'CONFLICT', hint: expect.stringContaining('TEMPORAL_NAMESPACE=jobs') },
  });
  expect(objects.keys()).toEqual([]);
});
