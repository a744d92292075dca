// `ropewalk init` and the database: the first admin, and databases that it must leave alone.
import { cp, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { databaseName } from '../../ops/database.ts';
import { findHost, loadHost } from '../../ops/host.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { hashSecret, parseToken } from '../../platform/token-secret.ts';
import { openStore } from '../../store/open.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { makeHome, removeHome } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const nothing = { none: async () => undefined };
let temporal: TestTemporal;
let connection: Connection;
let home: string;
let namespace: string;
beforeAll(async () => {
  temporal = await startTemporal({ control: nothing, instances: nothing });
  connection = await Connection.connect({ address: temporal.address });
});
afterAll(async () => {
  await connection?.close();
  await temporal?.stop();
});
beforeEach(async () => {
  home = await makeHome();
  namespace = `n${crypto.randomUUID()}`;
  return () => removeHome(home);
});

const init = (words: string[] = [], ofHome = home): Promise<CliResult> => {
  const env = {
    ROPEWALK_HOME: ofHome,
    ROPEWALK_PROVIDERS: 'local',
    HOME: ofHome,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: namespace,
  };
  return runCli(['init', ...words], { env });
};
const openRecords = () => openStore({ url: null, file: join(home, 'ropewalk.db'), migrate: false });
const hasNamespace = (): Promise<boolean> =>
  connection.workflowService.describeNamespace({ namespace }).then(
    () => true,
    () => false,
  );

describe('the first admin', () => {
  it('gets a token, alone on standard output, once', async () => {
    const first = await init(['--admin', 'ada']);
    expect(first.code).toBe(0);
    const token = parseToken(first.stdout.trim());
    expect(token).toMatchObject({ workspace: 'default' });
    const store = await openRecords();
    try {
      expect(await store.people.findToken('default', token?.id ?? '')).toMatchObject({
        token: {
          secretHash: hashSecret(await openKeys({ home, keysSecret: null }), token?.secret ?? ''),
          user: 'ada',
          scopes: ['read', 'write', 'admin', 'operator'],
        },
        user: { name: 'ada', role: 'admin' },
      });
    } finally {
      await store.close();
    }
    // Only standard output has the secret.
    const secret = first.stdout.trim().split('-').at(-1) ?? '';
    expect(first.stderr).not.toContain(secret);
    expect(await readFile(join(home, 'ropewalk.db'), 'latin1')).not.toContain(secret);
    expect((await stat(join(home, 'ropewalk.db'))).mode & 0o777).toBe(0o600);

    const second = await init(['--admin', 'bob']);
    expect([second.code, second.stdout]).toEqual([0, '']);
    expect(second.stderr).toContain('Workspace default has users already: none was added, and no token was made.');
    expect(second.stderr).toContain('ropewalk user set bob --role admin');
    expect((await init()).stderr).toBe('');
  });

  it('of another workspace is no operator', async () => {
    const { stdout } = await init(['--admin', 'ada', '--workspace', 'team-a', '--format', 'json']);
    const { admin } = JSON.parse(stdout) as { admin: { workspace: string; user: string; token: string } };
    expect(admin).toMatchObject({ workspace: 'team-a', user: 'ada' });
    const store = await openRecords();
    try {
      const found = await store.people.findToken('team-a', parseToken(admin.token)?.id ?? '');
      expect(found?.token.scopes).toEqual(['read', 'write', 'admin']);
    } finally {
      await store.close();
    }
  });

  it('needs a name that a user and a workspace can have', async () => {
    const user = await init(['--admin', 'a da']);
    expect([user.code, user.stderr]).toEqual([1, expect.stringContaining('"a da" cannot be the name of a user')]);
    const workspace = await init(['--admin', 'ada', '--workspace', 'Team A']);
    expect([workspace.code, workspace.stdout]).toEqual([1, '']);
    expect(workspace.stderr).toContain('error: ');
  });
});

describe('a database', () => {
  it('of another deployment is refused with both ids, before Temporal is touched', async () => {
    await init();
    const other = await makeHome();
    try {
      await cp(join(home, 'ropewalk.db'), join(other, 'ropewalk.db'));
      const owner = await loadHost(home);
      namespace = `n${crypto.randomUUID()}`;
      const without = await init([], other);
      expect([without.code, without.stdout]).toEqual([1, '']);
      expect(without.stderr).toContain(`Copy host.json and keys.json of a host of ${owner.deploymentId} into ${other}`);
      expect(await findHost(other)).toBeNull();

      const own = await loadHost(other);
      namespace = `n${crypto.randomUUID()}`;
      const { code, stdout, stderr } = await init(['--admin', 'eve'], other);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(
        `${other}/ropewalk.db belongs to deployment ${owner.deploymentId}, and ${other} to deployment ${own.deploymentId}`,
      );
      expect(stderr).toContain(`Use the home of ${owner.deploymentId}`);
      expect(await hasNamespace()).toBe(false);
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });

  it('that is newer than this code is refused, before Temporal is touched', async () => {
    await init();
    const database = new DatabaseSync(join(home, 'ropewalk.db'));
    database.exec('INSERT INTO schema_version (version, applied_at_ms) VALUES (9999, 0)');
    database.close();
    namespace = `n${crypto.randomUUID()}`;
    const { code, stderr } = await init();
    expect([code, stderr]).toEqual([1, expect.stringContaining('The database has schema version 9999')]);
    expect(await hasNamespace()).toBe(false);
  });

  it('that is new, for a namespace that is not, needs a reconciliation first', async () => {
    expect((await init()).stderr).not.toContain('ropewalk reconcile');
    await rm(join(home, 'ropewalk.db'));
    const { code, stderr } = await init();
    expect([code, stderr]).toEqual([0, expect.stringContaining('run "ropewalk reconcile", then start the API')]);
    expect((await init()).stderr).not.toContain('ropewalk reconcile');
  });

  it('is named without its password', () => {
    const url = 'postgres://ropewalk:secret@db.example:5432/records?sslmode=require';
    expect(databaseName({ url, file: '' })).toBe('postgres://db.example:5432/records');
    expect(databaseName({ url: 'secret', file: '' })).toBe('the database of ROPEWALK_DATABASE_URL');
  });
});
