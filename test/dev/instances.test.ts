// The instances of a home that a starting stack reports to their clusters as dead. It must not report one that the Temporal
// worker of the same stack is launching.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { countRunning, listDead } from '../../dev/instances.ts';
import { instancePaths } from '../../providers/local/files.ts';
import { startTimeOf } from '../../providers/local/processes.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ropewalk-instances-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('counts those that run as adopted, and takes for dead only those that once began', async () => {
  const alive = { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? '' };
  const replaced = { pid: process.pid, startTime: '1' };
  await instance('i_running0', 1, alive);
  await instance('i_launching', 1, null);
  await instance('i_crashed0', 1, replaced);
  await writeFile(await instance('i_buried00', 1, alive), '');
  await instance('i_elsewhere', 2, replaced);
  await instance('i_closed00', 3, replaced);

  expect(await countRunning(home)).toBe(1);
  const dead = await listDead(home, new Set([1, 2]));
  expect([...dead].map(([cluster, ids]) => [cluster, ids.toSorted()])).toEqual(
    expect.arrayContaining([
      [1, ['i_buried00', 'i_crashed0']],
      [2, ['i_elsewhere']],
    ]),
  );
  expect(dead.size).toBe(2);
});

/** Returns the path of its tombstone. */
async function instance(id: string, cluster: number, claim: object | null): Promise<string> {
  const { root, owner, claim: claimFile, tombstone } = instancePaths(home, id);
  await mkdir(root, { recursive: true });
  const tags = { deploymentId: 'dep_x', workspace: 'default', cluster, slot: 0, generation: 1, role: 'head' };
  await writeFile(owner, JSON.stringify({ ...tags, launchedAtMs: 1 }));
  if (claim !== null) await writeFile(claimFile, JSON.stringify(claim));
  return tombstone;
}
