// A bucket that several hosts share: only processes with its deployment's database and keys may use it.
import { describe, expect, it } from 'vitest';

import { deploymentMarkKey, readMarkedKeys, requireDeploymentMark } from '../../platform/deployment-mark.ts';
import { keySet, memoryObjects, testKeys } from './support.ts';

const where = 's3://bucket/';
const first = { deploymentId: 'dep_1', keys: testKeys({ kid: 'k1', seed: 1 }), known: null, where };

describe('the mark of a deployment in its bucket', () => {
  it('accepts every host with the same database and keys', async () => {
    const objects = memoryObjects();
    await Promise.all([requireDeploymentMark(objects, first), requireDeploymentMark(objects, first)]);
    await requireDeploymentMark(objects, first);
    expect(objects.keys()).toEqual([deploymentMarkKey]);
  });

  it('refuses another deployment', async () => {
    const objects = memoryObjects();
    await requireDeploymentMark(objects, first);
    await expect(requireDeploymentMark(objects, { ...first, deploymentId: 'dep_2' })).rejects.toThrow(
      'The objects in s3://bucket/ belong to deployment dep_1; the database belongs to dep_2.',
    );
  });

  it('refuses other keys, also under the same name', async () => {
    const objects = memoryObjects();
    await requireDeploymentMark(objects, first);
    for (const keys of [testKeys({ kid: 'k9', seed: 9 }), testKeys({ kid: 'k1', seed: 9 })]) {
      await expect(requireDeploymentMark(objects, { ...first, keys })).rejects.toThrow(
        'are not those of deployment dep_1',
      );
    }
  });

  it('names the keys of its own deployment only', async () => {
    const objects = memoryObjects();
    expect(await readMarkedKeys(objects, 'dep_1')).toBeNull();
    await requireDeploymentMark(objects, first);
    expect(await readMarkedKeys(objects, 'dep_1')).toEqual([{ kid: 'k1', fingerprint: 'fingerprint-1' }]);
    expect(await readMarkedKeys(objects, 'dep_2')).toBeNull();
  });

  it('follows a rotation of the keys', async () => {
    const objects = memoryObjects();
    await requireDeploymentMark(objects, first);
    const both = testKeys({ kid: 'k2', seed: 2, others: [keySet('k1', 1)] });
    const onlyNew = testKeys({ kid: 'k2', seed: 2 });
    await expect(requireDeploymentMark(objects, { ...first, keys: onlyNew })).rejects.toThrow('keys of this process');
    await requireDeploymentMark(objects, { ...first, keys: both });
    await requireDeploymentMark(objects, { ...first, keys: onlyNew });
    expect((await readMarkedKeys(objects, 'dep_1'))?.map(({ kid }) => kid)).toEqual(['k1', 'k2']);
    // An old backup of the keys.
    await expect(requireDeploymentMark(objects, first)).rejects.toThrow(
      'they lack the newest key that deployment/owner.json in s3://bucket/ names',
    );
  });

  it('says that a damaged mark is damaged', async () => {
    const objects = memoryObjects();
    for (const text of ['{"v":2}', '{"v":1,"deploymentId":"dep_1","keys":[{"kid":"k1"}]}']) {
      await objects.put(deploymentMarkKey, Buffer.from(text));
      await expect(requireDeploymentMark(objects, first)).rejects.toThrow('deployment/owner.json is damaged');
    }
  });
});
