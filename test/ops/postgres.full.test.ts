// An installation on PostgreSQL: init creates its tables there, the doctor checks it, and no output has its password.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { plainEnv } from '../../dev/services.ts';
import { checkDatabase, postgresFinding } from '../../ops/doctor/database.ts';
import type { Finding } from '../../ops/doctor/finding.ts';
import { loadHost } from '../../ops/host.ts';
import { parseToken } from '../../platform/token-secret.ts';
import { createClient } from '../../sdk/client.ts';
import { openStore } from '../../store/open.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { findPostgres, postgresPassword, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { makeHome, removeHome, startStack } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const found = await findPostgres();
if ('missing' in found) console.log(`The tests of PostgreSQL are left out. ${found.missing}`);
const nothing = { none: async () => undefined };

describe.runIf('directory' in found)('an installation on PostgreSQL', () => {
  let server: PostgresServer;
  let temporal: TestTemporal;
  let home: string;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres('directory' in found ? found.directory : '');
    temporal = await startTemporal({ control: nothing, instances: nothing });
  });
  afterAll(async () => {
    await temporal?.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    home = await makeHome();
    url = await server.createDatabase();
  });
  afterEach(() => removeHome(home));

  const init = (ofHome: string, ...words: string[]): Promise<CliResult> => {
    const namespace = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: ofHome.split('-').at(-1) ?? '' };
    return runCli(['init', ...words], {
      env: {
        ROPEWALK_HOME: ofHome,
        HOME: ofHome,
        ROPEWALK_DATABASE_URL: url,
        ROPEWALK_PROVIDERS: 'local',
        ...namespace,
      },
    });
  };
  const check = (change: Record<string, string> = {}): Promise<Finding[]> =>
    checkDatabase({ env: { ROPEWALK_DATABASE_URL: url, ...change }, home, connection: { problem: 'not asked' } });

  it('has its tables and its first admin there, and no file in the home', async () => {
    const { code, stdout, stderr } = await init(home, '--admin', 'ada');
    expect([code, parseToken(stdout.trim())]).toEqual([0, expect.objectContaining({ workspace: 'default' })]);
    const name = url.replace(/\/\/.*@/, '//');
    expect(stderr).toContain(`created the tables in ${name}, for deployment ${(await loadHost(home)).deploymentId}`);
    expect(stderr).not.toContain(postgresPassword);
    expect(existsSync(join(home, 'ropewalk.db'))).toBe(false);
    const store = await openStore({ url, file: '', migrate: false });
    expect(await store.people.listUsers('default')).toMatchObject([{ name: 'ada', role: 'admin' }]);
    await store.close();
    expect(await check()).toMatchObject([
      { check: 'database', state: 'ok', text: expect.stringMatching(/^postgresql:.*, PostgreSQL \d+/) },
      { check: 'deployment', state: 'ok' },
    ]);
  });

  it('is refused to another deployment', async () => {
    await init(home);
    const other = await makeHome();
    try {
      const { deploymentId } = await loadHost(home);
      const withoutOwn = await init(other);
      expect([withoutOwn.code, withoutOwn.stderr]).toEqual([1, expect.stringContaining(`of ${deploymentId} into`)]);
      expect(existsSync(join(other, 'host.json'))).toBe(false);
      const own = await loadHost(other);
      const { code, stderr } = await init(other);
      expect([code, stderr]).toEqual([1, expect.stringContaining(deploymentId)]);
      expect(stderr).toContain(own.deploymentId);
      expect(withoutOwn.stderr + stderr).not.toContain(postgresPassword);
    } finally {
      await removeHome(other);
    }
  });

  it('runs jobs with the one-machine stack, and no process has the password on its command line', async () => {
    const stack = await startStack({ env: { ROPEWALK_DATABASE_URL: url } });
    try {
      const { jobs } = createClient(stack);
      const { number } = await jobs.create({ command: ['true'], ntasks: 3 });
      expect(await jobs.wait(number)).toMatchObject({ status: 'done', tasks: { done: 3 } });
      const processes = await processesOfHome(stack.home);
      expect(processes.length).toBeGreaterThanOrEqual(3);
      expect(JSON.stringify(processes)).not.toContain(postgresPassword);
      expect(stack.output()).not.toContain(postgresPassword);
      expect(existsSync(join(stack.home, 'ropewalk.db'))).toBe(false);
    } finally {
      await stack.stop();
    }
  });

  it('that cannot be reached is found broken, without its password', async () => {
    for (const wrong of [url.replace(postgresPassword, 'wrong-password'), url.replace(/@.*\//, '@127.0.0.1:1/')]) {
      const findings = await check({ ROPEWALK_DATABASE_URL: wrong });
      expect(findings).toMatchObject([{ check: 'database', state: 'broken' }]);
      expect(JSON.stringify(findings)).not.toMatch(new RegExp(`${postgresPassword}|wrong-password`));
    }
    expect(await check()).toMatchObject([{ state: 'broken', fix: expect.stringContaining('ropewalk init') }]);
  });
});

it('warns about a server that is older than those of the tests', () => {
  expect(['16.2 (Debian 16.2-1)', '15.0', '12.1'].map((version) => postgresFinding('db', version).state)).toEqual([
    ...['ok', 'ok', 'warning'],
  ]);
});

it('hands the address of the database to the children of the stack, and nothing else of another Ropewalk', () => {
  const env = { PATH: '/bin', ROPEWALK_DATABASE_URL: 'postgres://db', ROPEWALK_TOKEN: 'x', TEMPORAL_API_KEY: 'y' };
  const { NODE_COMPILE_CACHE: _cache, ...plain } = plainEnv(env, '/home');
  expect(plain).toEqual({ PATH: '/bin', ROPEWALK_DATABASE_URL: 'postgres://db', ROPEWALK_HOME: '/home' });
  expect(plainEnv({ PATH: '/bin' }, '/home')).not.toHaveProperty('ROPEWALK_DATABASE_URL');
  // An operator's variables reach the children; variables that another Ropewalk has set for its task do not.
  const set = { ROPEWALK_WEBHOOK_PRIVATE: 'allow', ROPEWALK_INSTANCE: 'i_1', ROPEWALK_TOKEN: 't' };
  expect(Object.keys(plainEnv(set, '/home')).filter((name) => name in set)).toEqual(['ROPEWALK_WEBHOOK_PRIVATE']);
});
