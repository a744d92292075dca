// The console's "Create similar" copies the labels of an instance of Ropewalk to a user's own instance. Its name has another
// form: it is no instance of the cluster, nothing ends it, and it delays neither the sweep nor `ropewalk destroy --by-tag`.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { isInRegion } from '../../providers/gcp/names.ts';
import { readGcpRegions } from '../../providers/gcp/settings-file.ts';
import { freshOwner, gcpFile, placement, startGcpCloud, workersRequest } from './gcp-cloud.ts';
import type { GcpTestCloud } from './gcp-cloud.ts';

let cloud: GcpTestCloud;
beforeAll(async () => {
  cloud = await startGcpCloud();
});
afterAll(() => cloud.close());

it('an instance with copied labels, on or off, is neither listed nor deleted', async () => {
  const { emulator, provider } = cloud;
  const owner = freshOwner();
  const { launched } = await provider.launch(workersRequest(owner, 1, undefined, placement()));
  const [id = ''] = launched.map((each) => each.id);
  const { labels = {} } = (await emulator.instances()).find(({ name }) => name === id) ?? {};
  const similar = ['rw-similar-1', 'my-own-copy'];
  for (const name of similar) await emulator.plant({ kind: 'instance', name, labels });
  await emulator.send({ op: 'stop', id: 'my-own-copy' });
  expect((await provider.describe(owner, [id])).map((each) => each.id)).toEqual([id]);
  expect((await provider.list(owner.deploymentId)).map((each) => each.id)).toEqual([id]);
  await provider.terminate(owner, [id, ...similar], AbortSignal.timeout(10_000));
  expect((await emulator.ledger()).existing).toEqual(expect.arrayContaining(similar));
  expect((await emulator.ledger()).existing).not.toContain(id);
  expect(await provider.list(owner.deploymentId)).toEqual([]);
});

it('a zone for AI is one of its region, in the settings and in lists', async () => {
  const zones = ['us-central1-a', 'us-central1-ai1a'];
  expect(zones.map((zone) => isInRegion(`projects/p/zones/${zone}`, 'us-central1'))).toEqual([true, true]);
  expect(['us-east1-b', 'us-east10-b'].map((zone) => isInRegion(zone, 'us-east1'))).toEqual([true, false]);
  const path = join(cloud.directory, 'gcp.json');
  await writeFile(path, JSON.stringify({ ...gcpFile, zones }));
  expect(readGcpRegions(path)).toMatchObject([{ zones }]);
});
