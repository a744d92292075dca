// Users' text stays unchanged, or is refused by the name of its field: no part of the product executes it, reads it as something
// else, or prints it raw to a terminal.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { prepareDirectory, unpackFiles } from '../../agent/job/task-files.ts';
import { clean, createOutput, toJson } from '../../cli/output.ts';
import { sealedPrefix } from '../../platform/archive-keys.ts';
import { createTestApi, endedView } from '../api/support.ts';
import { fuzzTimes } from '../support/fuzz-options.ts';
import { anyHostile, hostileStrings, withoutNul } from './hostile.ts';

const numRuns = 300 * fuzzTimes(process.env);
const errorOf = async (response: Response) => (await response.json()).error;

describe('the content of a job', () => {
  it('reaches its tasks as it was written: words, variables, secrets, contents', async () => {
    const api = await createTestApi({ cores: 64 });
    const key = (prefix: string) => api.objects.keys().filter((each) => each.includes(prefix));
    const strings = fc.array(anyHostile.map(withoutNul), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(strings, async (words) => {
        const before = new Set(key(''));
        const map = Object.fromEntries(words.map((word, index) => [`V${index}`, word]));
        const content = Buffer.from(words.join('\0')).toString('base64');
        const body = {
          command: ['run', ...words],
          env: map,
          secretEnv: { SECRET: words.join('') },
          files: [{ path: 'f', content }],
        };
        const number = await api.submit(body);
        const [sealed = ''] = key(sealedPrefix).filter((each) => !before.has(each));
        const bundle = JSON.parse(Buffer.from((await api.vault.open(sealed)) ?? []).toString());
        expect(bundle.command).toEqual(['run', ...words]);
        expect(bundle.env).toEqual({ ...map, SECRET: words.join('') });
        expect(bundle.files[0].contentBase64).toBe(content);
        await api.workflows.endJob(endedView(api, number));
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  });

  it.each([
    ['name', (text: string) => ({ name: text })],
    ['env', (text: string) => ({ env: { [text]: 'x' } })],
    ['files', (text: string) => ({ files: [{ path: text, content: '' }] })],
    ['array', (text: string) => ({ array: text })],
    ['jobTimeout', (text: string) => ({ jobTimeout: text })],
  ])('is taken as it is, or refused by the name of its field: %s', async (field, bodyWith) => {
    const api = await createTestApi();
    await fc.assert(
      fc.asyncProperty(anyHostile, async (text) => {
        const response = await api.call('POST', '/v1/jobs', { body: { command: ['true'], ...bodyWith(text) } });
        expect([200, 201, 409, 422, 429]).toContain(response.status);
        if (response.status === 201 && field === 'name') expect((await response.json()).name).toBe(text);
        else if (response.status === 422) expect((await errorOf(response)).field).toMatch(new RegExp(`^${field}`));
      }),
      { numRuns },
    );
  });

  it('never becomes two lines of the log', async () => {
    const api = await createTestApi();
    for (const text of hostileStrings) {
      await api.call('GET', `/v1/jobs/${encodeURIComponent(text.toWellFormed())}`);
      await api.call('POST', '/v1/jobs', { body: { command: [text], name: text } });
    }
    expect(api.logged.length).toBeGreaterThan(hostileStrings.length);
    for (const line of api.logged) {
      expect(line.trimEnd()).not.toMatch(/[\n\r\u001b]/);
      JSON.parse(line);
    }
  });

  it('is text on our pages, never markup', async () => {
    const api = await createTestApi();
    for (const text of [...hostileStrings, `'" onfocus="alert(1)`]) {
      const code = encodeURIComponent(text.toWellFormed());
      const page = await (await api.call('GET', `/login?code=${code}`, { token: null })).text();
      expect(page).not.toMatch(/<script|<img|onerror="?alert/i);
      expect(page).not.toContain(`'" onfocus=`);
    }
  });
});

describe('files of a job', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ropewalk-files-'));
    await mkdir(join(root, 'tasks'));
    await writeFile(join(root, 'outside'), 'untouched');
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const escapes = [
    '..',
    '../outside',
    'a/../../outside',
    '/etc/ropewalk',
    './../outside',
    '..\\outside',
    'a/../..',
    'tasks/../../../x',
  ];
  const parts = fc.array(fc.constantFrom('..', '.', 'a', '', '~', '%2e%2e', '\\', 'outside'), {
    minLength: 1,
    maxLength: 6,
  });
  const path = fc.oneof(
    fc.constantFrom(...escapes),
    parts.map((each) => each.join('/')),
    anyHostile.map((text) => text.slice(0, 100)),
  );

  it('lie below the working directory, or are not written', async () => {
    const directory = join(root, 'tasks', 'one');
    await fc.assert(
      fc.asyncProperty(path, async (name) => {
        const content = Buffer.from('written').toString('base64');
        const files = unpackFiles([{ path: name, contentBase64: content, executable: false }]);
        await prepareDirectory(directory, files).catch(() => undefined);
        expect(await readdir(root)).toEqual(['outside', 'tasks']);
        expect(await readdir(join(root, 'tasks'))).toEqual(['one']);
        expect(await readFile(join(root, 'outside'), 'utf8')).toBe('untouched');
      }),
      { numRuns },
    );
    expect(existsSync('/etc/ropewalk')).toBe(false);
  });

  it('are refused by the API already when they would leave it', async () => {
    const api = await createTestApi();
    for (const name of [...escapes, 'a/./b', 'a//b', 'a/', '\n', 'a\u001b[31m', 'a\0b']) {
      const body = { command: ['true'], files: [{ path: name, content: '' }] };
      const response = await api.call('POST', '/v1/jobs', { body });
      expect([response.status, (await errorOf(response)).field]).toEqual([422, 'files.0.path']);
    }
  });
});

describe('what the command line prints', () => {
  const unsafe = /(?![\t\n])\p{Cc}|[\u2028-\u202e\u2066-\u2069]/u;

  it('has no escapes and no control characters, as text and as JSON, which reads back exactly', () => {
    fc.assert(
      fc.property(anyHostile, (text) => {
        expect(clean(text)).not.toMatch(/(?!\t)\p{Cc}|[\u2028-\u202e\u2066-\u2069]/u);
        expect(clean(clean(text))).toBe(clean(text));
        const json = toJson({ text });
        expect(json).not.toMatch(unsafe);
        expect(JSON.parse(json)).toEqual({ text });
      }),
      { numRuns: numRuns * 3 },
    );
  });

  it('keeps what is harmless', () => {
    for (const text of ['naïve café', '日本語', '\u{1f9f6} rope', 'a\tb', '100 % [ok]']) expect(clean(text)).toBe(text);
  });

  it('is cleaned whichever way it is printed', async () => {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    const output = createOutput(streams.stdout, streams.stderr);
    for (const text of hostileStrings) {
      output.out(text);
      output.err(text);
      output.progress(text);
    }
    const printed = [streams.stdout, streams.stderr].map((stream) => String(stream.read() ?? ''));
    for (const text of printed) {
      expect(text.length).toBeGreaterThan(1_000);
      expect(text).not.toMatch(unsafe);
    }
  });
});
