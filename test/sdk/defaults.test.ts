// The sources of the address and the token for the SDK in Node: the environment, then config.yaml.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { ConfigurationError, createClient } from '../../sdk/client.ts';
import { readDefaults } from '../../sdk/defaults-node.ts';
import { readScalar } from '../../sdk/flat-yaml.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ropewalk-defaults-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const read = (env: Record<string, string>) => {
  const defaults = readDefaults({ env, home });
  return { apiUrl: defaults.apiUrl(), token: defaults.token() };
};
const write = async (text: string, directory = join(home, '.ropewalk')): Promise<void> => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'config.yaml'), text);
};

describe('the defaults in Node', () => {
  it('are those of config.yaml', async () => {
    await write('apiUrl: http://127.0.0.1:7300\ntoken: rw_default_abc-secret\nworkspace: default\n');
    expect(read({})).toEqual({ apiUrl: 'http://127.0.0.1:7300', token: 'rw_default_abc-secret' });
  });

  it('come from the environment first, each on its own', async () => {
    await write('apiUrl: http://file\ntoken: file\n');
    expect(read({ ROPEWALK_TOKEN: 'env' })).toEqual({ apiUrl: 'http://file', token: 'env' });
    expect(read({ ROPEWALK_API_URL: 'http://env' })).toEqual({ apiUrl: 'http://env', token: 'file' });
    expect(read({ ROPEWALK_TOKEN: '' }).token).toBe('file');
  });

  it('come from ROPEWALK_HOME when it is set', async () => {
    await write('token: default\n');
    await write('token: other\n', join(home, 'other'));
    expect(read({ ROPEWALK_HOME: join(home, 'other') }).token).toBe('other');
  });

  it('are undefined without a file, and need none when the environment has both', async () => {
    expect(read({})).toEqual({ apiUrl: undefined, token: undefined });
    await mkdir(join(home, '.ropewalk', 'config.yaml'), { recursive: true });
    expect(read({ ROPEWALK_API_URL: 'http://env', ROPEWALK_TOKEN: 'env' }).token).toBe('env');
  });

  it('name a file that cannot be read, and never its content', async () => {
    await mkdir(join(home, '.ropewalk', 'config.yaml'), { recursive: true });
    expect(() => read({})).toThrow(`Cannot read ${join(home, '.ropewalk', 'config.yaml')}: EISDIR.`);
    await rm(join(home, '.ropewalk'), { recursive: true });
    await write('token: [secret]\n');
    expect(() => read({})).toThrow('the value of token is not a string on one line');
    expect(() => read({})).not.toThrow('secret');
  });
});

describe('a client without options', () => {
  it('says what is missing, and how to give it', () => {
    const before = { ...process.env };
    Object.assign(process.env, { ROPEWALK_HOME: home, ROPEWALK_API_URL: '', ROPEWALK_TOKEN: '' });
    try {
      expect(() => createClient()).toThrow(ConfigurationError);
      const file = join(home, 'config.yaml');
      const how = 'or sign in with `ropewalk login` (`ropewalk dev` on one machine), which writes';
      expect(() => createClient()).toThrow(`No API address: pass \`apiUrl\`, set ROPEWALK_API_URL, ${how} ${file}.`);
      expect(() => createClient({ apiUrl: 'http://x/', token: '' })).toThrow(
        `No token for http://x: pass \`token\`, set ROPEWALK_TOKEN, ${how} ${file}.`,
      );
    } finally {
      process.env = before;
    }
  });
});

describe('reading a string of a YAML file', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !/[\n\r\u0085\u2028\u2029]/.test(text));

  it('gives what a YAML writer wrote, or says that it cannot', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('apiUrl', 'token', 'workspace', 'other'), line), (record) => {
        const text = stringify(record);
        for (const [key, value] of Object.entries(record)) expect([value, null]).toContain(readScalar(text, key));
      }),
    );
  });

  it('always reads the addresses and tokens that it wrote', () => {
    const token = fc.stringMatching(/^rw_[a-z0-9-]{1,40}_[a-z0-9]{12}-[\w-]{43}$/);
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), token, (apiUrl, secret) => {
        const text = stringify({ apiUrl, token: secret });
        expect([readScalar(text, 'apiUrl'), readScalar(text, 'token')]).toEqual([apiUrl, secret]);
      }),
    );
  });

  it.each([
    ["token: 'it''s'\n", "it's"],
    ['"token": "a\\tb" # a comment\n', 'a\tb'],
    ['# token: no\ntoken: yes-this # why\n', 'yes-this'],
    ['aws:\n  token: nested\ntoken: top\n', 'top'],
    ['tokens: many\n', undefined],
    ['token:\n', null],
    ['token: 12\n', null],
    ['token: |\n  block\n', null],
    ['token: a\n  b\n', null],
    ['token: "a\n', null],
  ])('reads %j as %j', (text, value) => {
    expect(readScalar(text, 'token')).toBe(value);
  });
});
