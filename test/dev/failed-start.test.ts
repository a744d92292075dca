// A failed start ends its own processes, and leaves the instances of an earlier stack to the next start.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { endInstances } from '../../dev/instances.ts';
import { openDatabase } from '../../ops/database.ts';
import { loadHost } from '../../ops/host.ts';
import { instancePaths } from '../../providers/local/files.ts';
import { startTimeOf } from '../../providers/local/processes.ts';
import { testKeys } from '../platform/support.ts';
import { makeHome, node24, removeHome, spawnStack } from '../support/stack.ts';

let home = '';
const agents: ChildProcess[] = [];
beforeEach(async () => {
  home = await makeHome();
});
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.kill('SIGKILL');
  await removeHome(home);
});

it.each([
  { file: 'host.json', said: 'host.json is damaged' },
  { file: 'keys.json', said: 'keys.json is damaged: it is not JSON' },
])('leaves running instances alone when $file is damaged, and says so', async ({ file, said }) => {
  const agent = await runInstance('i_survivor00');
  await writeFile(join(home, file), 'damaged', { mode: 0o600 });
  const stack = await spawnStack(home);
  try {
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain(said);
    expect(stack.output()).not.toContain('    at ');
    expect(stack.output()).toContain('1 instance of an earlier stack was left running: the next start adopts it');
    expect(existsSync(instancePaths(home, 'i_survivor00').tombstone)).toBe(false);
    expect(await startTimeOf(agent)).not.toBeNull();
  } finally {
    await stack.killAll('SIGKILL');
  }
});

it('ends the instances that were launched during a start, and no earlier ones', async () => {
  const earlier = await runInstance('i_survivor00');
  const launched = await runInstance('i_launched00');
  expect(await endInstances(home, { withinMs: 20_000, except: new Set(['i_survivor00']) })).toBe(1);
  expect(await startTimeOf(launched)).toBeNull();
  expect(await startTimeOf(earlier)).not.toBeNull();
});

it.each([
  {
    what: 'is newer than this code',
    change: 'INSERT INTO schema_version (version, applied_at_ms) VALUES (9999, 0)',
    said: 'The database has schema version 9999',
  },
  {
    what: 'belongs to another deployment',
    change: "UPDATE deployment SET deployment_id = 'dep_other'",
    said: 'ropewalk.db belongs to deployment dep_other, and',
  },
])('starts nothing when the database $what', async ({ change, said }) => {
  const { store } = await openDatabase({ env: {}, home, host: await loadHost(home) });
  await store.close();
  const database = new DatabaseSync(join(home, 'ropewalk.db'));
  database.exec(change);
  database.close();
  const stack = await spawnStack(home);
  try {
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain(said);
    const names = (await readdir(home)).filter((name) => !name.startsWith('ropewalk.db'));
    expect(names.toSorted()).toEqual(['host.json', 'run']);
    expect(await readdir(join(home, 'run'))).toEqual([]);
  } finally {
    await stack.killAll('SIGKILL');
  }
});

it('starts nothing, and creates no keys, when the deployment has keys and keys.json is missing', async () => {
  const { store } = await openDatabase({ env: {}, home, host: await loadHost(home) });
  await store.deployment.claimKeys(testKeys());
  await store.close();
  const stack = await spawnStack(home);
  try {
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain(`${home}/keys.json is missing, and deployment`);
    expect(stack.output()).toContain('restore keys.json from the backup');
    expect(await readdir(home)).not.toContain('keys.json');
    expect(await readdir(join(home, 'run'))).toEqual([]);
  } finally {
    await stack.killAll('SIGKILL');
  }
});

/** A process that the local provider takes for the agent of an instance; returns its pid. */
async function runInstance(id: string): Promise<number> {
  const { root, owner, claim } = instancePaths(home, id);
  await mkdir(root, { recursive: true });
  const tags = { deploymentId: 'dep_x', workspace: 'default', cluster: 1, slot: 0, generation: 1, role: 'head' };
  await writeFile(owner, JSON.stringify({ ...tags, launchedAtMs: 1 }));
  const agent = spawn(node24, ['-e', 'setInterval(() => undefined, 1000)'], {
    env: { ROPEWALK_INSTANCE: id, ROPEWALK_INSTANCE_DIR: root },
    stdio: 'ignore',
  });
  agents.push(agent);
  const { pid = 0 } = agent;
  await writeFile(claim, JSON.stringify({ pid, startTime: await startTimeOf(pid) }));
  return pid;
}
