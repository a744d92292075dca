// The doctor's checks of the database of records: each finds a deliberate fault, and prints a remedy.
import { chmod, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openDatabase } from '../../ops/database.ts';
import { checkDatabase } from '../../ops/doctor/database.ts';
import type { Finding } from '../../ops/doctor/finding.ts';
import { findingsOf } from '../../ops/doctor/stuck-workflows.ts';
import { loadHost } from '../../ops/host.ts';
import { createFirstAdmin } from '../../ops/init/first-admin.ts';
import { testKeys } from '../platform/support.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let home = '';
let file = '';
beforeEach(async () => {
  home = await makeHome();
  file = join(home, 'ropewalk.db');
});
afterEach(() => removeHome(home));

const check = (env: Record<string, string> = {}): Promise<Finding[]> =>
  checkDatabase({ env, home, connection: { problem: 'not asked' } });

async function makeDatabase(): Promise<void> {
  const { store } = await openDatabase({ env: {}, home, host: await loadHost(home) });
  await createFirstAdmin(store, testKeys(), { workspace: 'default', admin: 'ada' });
  await store.close();
}

function change(statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

describe('the doctor, asked about the database', () => {
  it('finds nothing wrong with one that init has made', async () => {
    await makeDatabase();
    const { deploymentId } = await loadHost(home);
    expect(await check()).toEqual([
      { check: 'database', state: 'ok', text: file, fix: '' },
      { check: 'deployment', state: 'ok', text: deploymentId, fix: '' },
    ]);
  });

  it('says that there is none yet, and makes none', async () => {
    expect(await check()).toEqual([
      { check: 'database', state: 'warning', text: `${file} is not there yet`, fix: 'Run: ropewalk init' },
    ]);
    expect(await check()).toHaveLength(1);
  });

  it('finds one of another deployment', async () => {
    await makeDatabase();
    change("UPDATE deployment SET deployment_id = 'dep_other'");
    const { deploymentId } = await loadHost(home);
    expect((await check()).at(-1)).toMatchObject({
      ...{ check: 'deployment', state: 'broken' },
      text: `the database belongs to dep_other, and ${home} to ${deploymentId}`,
    });
  });

  it('finds one with a newer schema, and one that no version has prepared', async () => {
    await makeDatabase();
    change('INSERT INTO schema_version (version, applied_at_ms) VALUES (9999, 0)');
    expect(await check()).toMatchObject([{ state: 'broken', text: expect.stringContaining('schema version 9999') }]);
    const other = await makeHome();
    try {
      new DatabaseSync(join(other, 'ropewalk.db')).close();
      await chmod(join(other, 'ropewalk.db'), 0o600);
      const found = await checkDatabase({ env: {}, home: other, connection: { problem: 'not asked' } });
      expect(found).toMatchObject([{ state: 'broken', fix: expect.stringContaining('ropewalk init') }]);
    } finally {
      await removeHome(other);
    }
  });

  it('finds one that others can read, and leaves its mode as it is', async () => {
    await makeDatabase();
    await chmod(file, 0o644);
    const found = {
      state: 'broken',
      text: `other users of this machine can read ${file}`,
      fix: `Run: chmod 600 ${file}`,
    };
    expect(await check()).toMatchObject([found]);
    expect(await check()).toMatchObject([found]);
  });

  it('finds damaged pages, and a file that is no database', async () => {
    await makeDatabase();
    const handle = await open(file, 'r+');
    const { size } = await handle.stat();
    // Every page but the first, which has the header and the list of tables.
    await handle.write(Buffer.alloc(size - 4_096, 0xff), 0, size - 4_096, 4_096);
    await handle.close();
    expect(await check()).toMatchObject([
      { state: 'broken', fix: expect.stringContaining('restore the newest backup') },
    ]);
    await writeFile(file, 'no database');
    expect(await check()).toMatchObject([{ state: 'broken', text: expect.stringContaining('cannot be read') }]);
  });
});

describe('the doctor, given the report of the stuck-workflow check', () => {
  const report = { refusal: null, checked: 2, unknown: [] };

  it('prints the command that resets one by hand', () => {
    const command = 'temporal workflow reset --workflow-id job/7 --event-id 12';
    const stuck = { workflowId: 'job/7', outcome: 'reported' as const, text: 'its workflow task fails' };
    const [found] = findingsOf({ ...report, stuck: [stuck] }, new Map([['job/7', command]]));
    expect(found).toMatchObject({ check: 'job/7', state: 'broken', text: 'is stuck: its workflow task fails' });
    expect(found?.fix).toContain(`By hand: ${command}`);
  });

  it('says that none is stuck, and warns when no Temporal worker made the check', () => {
    expect(findingsOf({ ...report, stuck: [] }, new Map())).toMatchObject([
      { state: 'ok', text: 'none of 2 is stuck' },
    ]);
    expect(findingsOf(null, new Map())).toMatchObject([{ state: 'warning', fix: 'Start a Temporal worker.' }]);
  });
});
