// The five things of docs/operations.md, "Backup and restore", are enough on a new disk, and without host.json nothing starts.
import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup as backUp, DatabaseSync } from 'node:sqlite';

import { expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { makeHome, removeHome, spawnStack, startStack, type TestStack } from '../support/stack.ts';

const databases = ['ropewalk.db', 'temporal.db'];
const files = ['temporal.db.version', 'keys.json', 'host.json'];

it('a backup is a deployment again on another disk: jobs, results and tokens are there, and new jobs run', async () => {
  const [first, second] = [await makeHome(), await makeHome()];
  const backup = await mkdtemp(join(tmpdir(), 'ropewalk-backup-'));
  const stacks: TestStack[] = [];
  try {
    const before = await startStack({ home: first });
    stacks.push(before);
    const { jobs } = createClient(before);
    const done = await jobs.create({ command: ['echo', 'kept'], ntasks: 3 });
    await jobs.wait(done.number);
    for (const name of databases) {
      const database = new DatabaseSync(join(first, name), { readOnly: true });
      // What `.backup` of the program sqlite3 does.
      await backUp(database, join(backup, name));
      database.close();
    }
    await cp(join(first, 'objects'), join(backup, 'objects'), { recursive: true });
    for (const name of files) await copyFile(join(first, name), join(backup, name));
    await before.stop();
    await rm(first, { recursive: true });

    for (const name of [...databases, 'temporal.db.version', 'keys.json'])
      await copyFile(join(backup, name), join(second, name));
    await mkdir(join(second, 'objects'));
    await cp(join(backup, 'objects'), join(second, 'objects'), { recursive: true });
    const refused = await spawnStack(second);
    expect([await refused.exited, refused.output()]).toEqual([1, expect.stringContaining('host.json')]);

    await copyFile(join(backup, 'host.json'), join(second, 'host.json'));
    const after = await startStack({ home: second });
    stacks.push(after);
    const restored = createClient({ apiUrl: after.apiUrl, token: before.token }).jobs;
    expect(await restored.get(done.number)).toMatchObject({ status: 'done', tasks: { done: 3 } });
    const again = await restored.create({ command: ['true'] });
    expect(again.number).toBe(done.number + 1);
    expect(await restored.wait(again.number)).toMatchObject({ status: 'done' });
    await after.stop();
  } finally {
    for (const stack of stacks) await stack.killAll('SIGKILL');
    for (const home of [first, second]) await removeHome(home);
    await rm(backup, { recursive: true, force: true });
  }
});
