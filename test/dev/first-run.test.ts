// The database rows and the config.yaml of a stack's first start.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { ensureUserConfig, type TokenOutcome } from '../../dev/first-run.ts';
import { countOpenJobs, listOpenNumbers } from '../../ops/open-work.ts';
import { createFirstAdmin } from '../../ops/init/first-admin.ts';
import { isHashOf, newTokenSecret, parseToken, tokenText } from '../../platform/token-secret.ts';
import { userConfig, type UserConfig } from '../../schema/user-config.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { testKeys } from '../platform/support.ts';
import { makeHome, removeHome } from '../support/stack.ts';

const apiUrl = 'http://127.0.0.1:7300';
const user = userInfo().username;
let home = '';
let configFile = '';
let store: Store;
beforeEach(async () => {
  home = await makeHome();
  configFile = join(home, 'config.yaml');
  store = await openMemoryStore();
});
afterEach(async () => {
  await store.close();
  await removeHome(home);
});

const ensure = (): Promise<TokenOutcome> => ensureUserConfig(store, { keys: testKeys(), configFile, apiUrl });
const config = async (): Promise<UserConfig> => userConfig.parse(parse(await readFile(configFile, 'utf8')));

/** The token of config.yaml as the database has it. */
async function known(): Promise<{ user: string; scopes: string[] } | null> {
  const token = parseToken((await config()).token ?? '');
  const found = token === null ? null : await store.people.findToken(token.workspace, token.id);
  const isRight = isHashOf(testKeys(), found?.token.secretHash ?? null, token?.secret ?? '');
  return isRight && found !== null ? found.token : null;
}

describe('config.yaml', () => {
  it('gets a token of an admin of workspace default, who is also an operator, and keeps it at later starts', async () => {
    expect(await ensure()).toBe('new');
    const first = await config();
    expect(first).toMatchObject({ apiUrl, workspace: 'default' });
    expect(await known()).toMatchObject({ user, scopes: ['read', 'write', 'admin', 'operator'] });
    expect((await stat(configFile)).mode & 0o777).toBe(0o600);

    expect(await ensure()).toBe('kept');
    expect(await config()).toEqual(first);
    expect(await store.people.listTokens('default', {})).toHaveLength(1);
  });

  it('gets another token when the database was moved away', async () => {
    await ensure();
    const before = await config();
    await store.close();
    store = await openMemoryStore();
    expect(await ensure()).toBe('replaced');
    expect((await config()).token).not.toBe(before.token);
    expect(await known()).toMatchObject({ user });
  });

  it('gets another token when its own was revoked, has expired or has another secret', async () => {
    await ensure();
    const { token = '' } = await config();
    await store.people.revokeToken('default', { id: parseToken(token)?.id ?? '', by: null }, Date.now());
    expect(await ensure()).toBe('replaced');

    const expired = newTokenSecret(testKeys());
    const item = {
      id: expired.id,
      secretHash: expired.secretHash,
      user,
      scopes: null,
      expiresAtMs: Date.now() - 1,
      by: null,
    };
    expect(await store.people.issueToken('default', item, Date.now() - 1_000)).toHaveProperty('ok');
    await writeFile(configFile, stringify({ apiUrl, token: tokenText('default', expired) }));
    expect(await ensure()).toBe('replaced');

    const { id } = parseToken((await config()).token ?? '') ?? { id: '' };
    await writeFile(
      configFile,
      stringify({ apiUrl, token: tokenText('default', { id, secret: newTokenSecret(testKeys()).secret }) }),
    );
    expect(await ensure()).toBe('replaced');
    expect(await known()).not.toBeNull();
  });

  it('keeps a token of another workspace, and only follows the address of the API', async () => {
    const { token } = await createFirstAdmin(store, testKeys(), { workspace: 'team', admin: 'ada' });
    await writeFile(configFile, stringify({ apiUrl: 'http://127.0.0.1:1', token }));
    expect(await ensure()).toBe('kept');
    expect(await config()).toEqual({ apiUrl, token, workspace: 'team' });
  });

  it('gets a token also when another person has made workspace default', async () => {
    await createFirstAdmin(store, testKeys(), { workspace: 'default', admin: 'someone-else' });
    expect(await ensure()).toBe('new');
    expect(await known()).toMatchObject({ user });
  });

  it('that is damaged is neither replaced nor quoted', async () => {
    await writeFile(configFile, 'token: [rw_secret');
    const refusal = await ensure().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      problem: { code: 'VALIDATION', message: `${configFile} is not a valid configuration` },
    });
    expect(JSON.stringify(refusal)).not.toContain('rw_secret');
    expect(await readFile(configFile, 'utf8')).toBe('token: [rw_secret');
  });
});

describe('what is open', () => {
  it('is counted over all pages', async () => {
    const row = {
      ...{
        kind: 'job' as const,
        job: null,
        workspace: 'default',
        name: 'a',
        user: 'ada',
        admissionId: 'a',
        specRef: 'a',
      },
      ...{ privateToCreator: false, admittedAtMs: 0, missingSinceMs: null },
    };
    const rows = Array.from({ length: 2_500 }, (_, index) => ({ ...row, number: index + 1 }));
    const listOpen: Store['jobs']['listOpen'] = async ({ after, limit }) =>
      rows.filter(({ number }) => number > after).slice(0, limit);
    expect(await countOpenJobs({ jobs: { listOpen } })).toBe(2_500);
  });

  it('is counted over all workspaces', async () => {
    await createFirstAdmin(store, testKeys(), { workspace: 'default', admin: 'ada' });
    await createFirstAdmin(store, testKeys(), { workspace: 'team', admin: 'ada' });
    const numbers = [await open('default', 'job'), await open('team', 'job'), await open('team', 'cluster')];
    expect(await countOpenJobs(store)).toBe(2);
    expect(await listOpenNumbers(store)).toEqual(new Set(numbers));
  });
});

async function open(workspace: string, kind: 'job' | 'cluster'): Promise<number> {
  const id = crypto.randomUUID();
  const item = {
    ...{ workspace, kind, admissionId: id, idempotencyKey: id, bodyHash: id, name: '', getOrCreate: false },
    ...{ privateToCreator: false, specRef: id, command: 'true', user: 'ada', instances: 1, vcpus: 1, workerVcpus: 1 },
    estimate: { microsPerHour: 0, totalMicros: 0 },
  };
  const answer = await store.admissions.admit(item, Date.now());
  if ('error' in answer) throw new Error(answer.error.message);
  await store.admissions.started(kind, answer.ok.number);
  return answer.ok.number;
}
