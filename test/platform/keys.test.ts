import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { randomId } from '../../platform/ids.ts';
import { createKeys, findKeys } from '../../platform/keys.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { createSecret } from '../../platform/secret.ts';

describe('the key file', () => {
  let home = '';
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'ropewalk-keys-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('is created once, for its owner alone, and only read afterwards', async () => {
    const path = join(home, 'sub', 'keys.json');
    const first = await createKeys(path);
    const second = await findKeys(path);
    expect(second?.current).toEqual(first.current);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(home, 'sub'))).toEqual(['keys.json']);
  });

  it('is never created by a process that only reads it', async () => {
    expect(await findKeys(join(home, 'keys.json'))).toBeNull();
    await expect(openKeys({ home, keysSecret: null })).rejects.toMatchObject({
      problem: {
        ...{ code: 'NOT_FOUND', message: `There is no key file ${home}/keys.json.` },
        hint: expect.stringMatching(/ropewalk init.*restore keys\.json from the backup.*docs\/operations\.md/),
      },
    });
    expect(await readdir(home)).toEqual([]);
  });

  it('is the same for processes that make it at once', async () => {
    const path = join(home, 'keys.json');
    const all = await Promise.all(Array.from({ length: 8 }, () => createKeys(path)));
    expect(new Set(all.map((keys) => Buffer.from(keys.current.vault).toString('hex'))).size).toBe(1);
    expect(await readdir(home)).toEqual(['keys.json']);
  });

  it('gives a different key per purpose and per key id', async () => {
    const path = join(home, 'keys.json');
    const { current } = await createKeys(path);
    const file = JSON.parse(await readFile(path, 'utf8'));
    const other = Buffer.alloc(32, 7).toString('base64');
    await writeFile(path, JSON.stringify({ ...file, keys: { ...file.keys, other } }));
    const keys = await createKeys(path);
    const sets = [current, keys.byKid('other')];
    const hex = sets.flatMap((set) =>
      [set?.vault, set?.tokens, set?.requestHmac].map((key) => Buffer.from(key ?? []).toString('hex')),
    );
    expect(new Set(hex).size).toBe(6);
    for (const key of hex) expect(key).toHaveLength(64);
    expect(hex).not.toContain(Buffer.from(String(file.keys[current.kid]), 'base64').toString('hex'));
    expect(keys.current).toEqual(current);
    expect(keys.byKid('unknown')).toBeNull();
  });

  it('is refused when others can read it, and when it is damaged; it is never replaced', async () => {
    const path = join(home, 'keys.json');
    await createKeys(path);
    await chmod(path, 0o644);
    await expect(createKeys(path)).rejects.toMatchObject({ problem: { hint: `Run: chmod 600 ${path}` } });
    await chmod(path, 0o600);
    await writeFile(path, '{"current":"a","keys":{"a":"c2hvcnQ="}}');
    await expect(createKeys(path)).rejects.toThrow('32 bytes');
    await writeFile(path, 'half a fi');
    await expect(createKeys(path)).rejects.toThrow('not JSON');
    await expect(findKeys(path)).rejects.toThrow('not JSON');
    expect(await readFile(path, 'utf8')).toBe('half a fi');
  });
});

describe('ids and secrets', () => {
  it('are prefixed, 26 Crockford characters, and never repeat', () => {
    const ids = Array.from({ length: 1_000 }, () => randomId('adm'));
    for (const id of ids) expect(id).toMatch(/^adm_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('print as [secret] everywhere but through reveal()', () => {
    const secret = createSecret('swordfish');
    const printed = [
      String(secret),
      ['', secret].join(''),
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ deep: [secret] }, { depth: 9, showHidden: true }),
      Object.entries(secret).join(),
    ];
    for (const text of printed) expect(text).not.toContain('swordfish');
    expect(printed.slice(0, 2)).toEqual(['[secret]', '[secret]']);
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}');
    expect(secret.reveal()).toBe('swordfish');
  });
});
