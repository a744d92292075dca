import { describe, expect, it } from 'vitest';

import { hashBody } from '../../services/jobs/canonical.ts';
import { createTestApi, type TestApi } from './support.ts';

const input = (path: string) => ({ path, sha256: '0'.repeat(64), bytes: 1 });
const script = (text: string, path = 'run.sh') => ({
  path,
  content: Buffer.from(text).toString('base64'),
  executable: true,
});
const stored = (api: TestApi) => api.objects.keys().filter((key) => /^(specs|vault)\//.test(key));
const errorOf = async (response: Response) => (await response.json()).error;

describe('submitting a job', () => {
  it('seals the bundle, writes the spec without a secret in it, and answers the number', async () => {
    const api = await createTestApi();
    const body = {
      command: ['run.sh', '$ROPEWALK_BATCH_TASK_ID'],
      files: [script('#!/bin/bash\n# ROPEWALK ntasks 10\n# COILED memory 8 GiB\necho hello\n')],
      env: { MODE: 'fast' },
      secretEnv: { PASSWORD: 'swordfish' },
    };
    const response = await api.call('POST', '/v1/jobs', { body });
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/v1/jobs/1');
    const created = await response.json();
    expect(created).toMatchObject({ number: 1, name: 'job-1', existing: false });
    expect(created.warnings.join()).toContain('memory');
    const [specKey = '', bundleKey = ''] = stored(api);
    const spec = Buffer.from((await api.objects.get(specKey)) ?? []).toString();
    expect(JSON.parse(spec).settings).toMatchObject({
      taskCount: 10,
      array: '0-9',
      instances: 8,
      providerQueue: 'local/host1',
    });
    for (const text of [spec, Buffer.from((await api.objects.get(bundleKey)) ?? []).toString(), api.logged.join()]) {
      expect(text).not.toContain('swordfish');
    }
    const bundle = JSON.parse(Buffer.from((await api.vault.open(bundleKey)) ?? []).toString());
    expect(bundle).toMatchObject({
      runtime: { kind: 'host' },
      command: body.command,
      env: { MODE: 'fast', PASSWORD: 'swordfish' },
    });
    expect(Buffer.from(bundle.files[0].contentBase64, 'base64').toString()).toContain('echo hello');
  });

  it('gives one instance per task, at most max-workers, at most twice the cores', async () => {
    const api = await createTestApi({ cores: 3 });
    const instances = async (body: object) => api.workflows.jobs.get(await api.submit(body))?.settings.instances;
    expect(await instances({ ntasks: 2 })).toBe(2);
    expect(await instances({ ntasks: 100 })).toBe(6);
    expect(await instances({ ntasks: 100, maxWorkers: 4 })).toBe(4);
    expect(await instances({ ntasks: 100, maxWorkers: -1 })).toBe(6);
  });

  it('reads the header of the script that the command names, wherever it stands, and of no other', async () => {
    const api = await createTestApi();
    const files = [script('# ROPEWALK ntasks 7\n', 'other.py'), script('# ROPEWALK ntasks 3\n', 'work.py')];
    const count = async (command: string[]) =>
      api.workflows.jobs.get(await api.submit({ command, files }))?.settings.taskCount;
    expect(await count(['python3', './work.py', 'x'])).toBe(3);
    expect(await count(['echo', 'hello'])).toBe(1);
  });

  it('reads the first header there is when the first file that the command names has none', async () => {
    const api = await createTestApi();
    const files = [
      script('#!/bin/bash\n"$@"\n', 'wrapper.sh'),
      { path: 'data.bin', content: Buffer.from([0]).toString('base64') },
      script('# ROPEWALK ntasks 3\n', 'work.py'),
      script('# ROPEWALK ntasks 7\n', 'later.py'),
    ];
    const command = ['bash', 'wrapper.sh', 'data.bin', './work.py', 'later.py'];
    const number = await api.submit({ command, files });
    expect(api.workflows.jobs.get(number)?.settings.taskCount).toBe(3);
  });

  it('answers the same job for the same Idempotency-Key, and leaves nothing of the second request', async () => {
    const api = await createTestApi();
    const request = { body: { command: ['true'] }, headers: { 'idempotency-key': 'once' } };
    const first = await api.call('POST', '/v1/jobs', request);
    const again = await api.call('POST', '/v1/jobs', request);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(await again.json()).toEqual({ ...(await first.json()), existing: true });
    expect(stored(api)).toHaveLength(2);
    const other = await api.call('POST', '/v1/jobs', { ...request, body: { command: ['false'] } });
    expect(other.status).toBe(409);
    expect((await errorOf(other)).code).toBe('IDEMPOTENCY_MISMATCH');
    expect(stored(api)).toHaveLength(2);
  });

  it('keeps the keys of users apart, and does not mind the order of fields', async () => {
    const api = await createTestApi();
    const headers = { 'idempotency-key': 'once' };
    await api.call('POST', '/v1/jobs', { body: { command: ['true'], ntasks: 2 }, headers });
    const again = await api.call('POST', '/v1/jobs', { body: { ntasks: 2, command: ['true'] }, headers });
    expect(again.status).toBe(200);
    const token = await api.addToken('default', ['write'], 'grace');
    expect(
      (await api.call('POST', '/v1/jobs', { body: { command: ['true'], ntasks: 2 }, headers, token })).status,
    ).toBe(201);
    const key = new Uint8Array(32);
    expect(hashBody({ a: 1, b: [1, { c: undefined }] }, key)).toBe(hashBody({ b: [1, {}], a: 1 }, key));
    expect(hashBody({ a: [1, 2] }, key)).not.toBe(hashBody({ a: [2, 1] }, key));
  });

  it.each(['with blank', 'ümlaut', '', 'x'.repeat(201)])('names the header for the key %j', async (key) => {
    const api = await createTestApi();
    const headers = { 'idempotency-key': encodeURI(key) === key ? key : Buffer.from(key).toString('latin1') };
    const response = await api.call('POST', '/v1/jobs', { body: { command: ['true'] }, headers });
    expect(response.status).toBe(422);
    expect((await errorOf(response)).field).toBe('idempotency-key');
  });

  it('keeps what it wrote when it is unknown whether the job was admitted, and finds it again under the key', async () => {
    const api = await createTestApi();
    api.database.loseNextAnswerOf = 'admit';
    const request = { body: { command: ['true'] }, headers: { 'idempotency-key': 'k' } };
    expect((await api.call('POST', '/v1/jobs', request)).status).toBe(503);
    expect(stored(api)).toHaveLength(2);
    const again = await api.call('POST', '/v1/jobs', request);
    expect(again.status).toBe(200);
    expect((await again.json()).number).toBe(1);
    expect(stored(api)).toHaveLength(2);
  });

  it('leaves nothing sealed behind when its specification cannot be written', async () => {
    const api = await createTestApi();
    const sound = { ...api.objects };
    api.objects.put = async (key, bytes) => {
      if (key.startsWith('specs/')) throw new Error('the disk is full');
      await sound.put(key, bytes);
    };
    expect((await api.call('POST', '/v1/jobs', { body: { command: ['true'] } })).status).toBe(500);
    expect(stored(api)).toEqual([]);
  });

  it('names the file and the line of a bad value in the header', async () => {
    const api = await createTestApi();
    const body = { command: ['run.sh'], files: [script('#!/bin/bash\n# COILED ntasks 2 # two\n')] };
    expect(await errorOf(await api.call('POST', '/v1/jobs', { body }))).toMatchObject({
      message: 'Line 2 of run.sh: ntasks needs a whole number',
      hint: expect.stringContaining('no comment can follow it'),
    });
  });

  it('passes on what admission says, and deletes what it wrote', async () => {
    const api = await createTestApi();
    const body = { command: ['true'], name: 'nightly' };
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(201);
    const taken = await api.call('POST', '/v1/jobs', { body });
    expect(taken.status).toBe(409);
    expect(await errorOf(taken)).toMatchObject({ code: 'NAME_TAKEN', field: 'name' });
    const found = await api.call('POST', '/v1/jobs', { body: { ...body, getOrCreate: true } });
    expect([found.status, (await found.json()).number]).toEqual([200, 1]);
    await api.setLimits({ running: 1 });
    const over = await api.call('POST', '/v1/jobs', { body: { command: ['true'] } });
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1']);
    expect(stored(api)).toHaveLength(2);
  });

  it.each([
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['an unknown field of a file', { files: [{ ...script(''), mode: 7 }] }, 'files.0.mode'],
    ['no command', { command: [] }, 'command'],
    ['an empty program', { command: [''] }, 'command.0'],
    ['a command line in one word', { command: ['echo hi | wc -c'] }, 'command.0'],
    ['a script on standard input', { command: ['-'] }, 'command.0'],
    [
      'a script with DOS line breaks',
      { command: ['./run.sh'], files: [script('#!/bin/bash\r\n# COILED ntasks 2\r\n')] },
      'command.0',
    ],
    ['a filestore without a file', { inputFilestore: 'rwa' }, 'inputFilestore'],
    ['a word with NUL', { command: ['a', 'b\0c'] }, 'command.1'],
    ['a wrong type', { ntasks: 'ten' }, 'ntasks'],
    ['too many tasks', { ntasks: 1_000_001 }, 'ntasks'],
    ['ntasks and array', { ntasks: 2, array: '0-1' }, 'array'],
    ['a bad array', { array: '3-1' }, 'array'],
    ['a bad duration', { jobTimeout: 'soon' }, 'jobTimeout'],
    ['a life longer than its bundle is kept', { jobTimeout: '398 days' }, 'jobTimeout'],
    ['a path that leaves', { files: [script('', '../x')] }, 'files.0.path'],
    ['a path with half a character', { files: [script('', 'x\ud800')] }, 'files.0.path'],
    ['a path with a long name', { files: [script('', `a/${'x'.repeat(256)}`)] }, 'files.0.path'],
    ['an absolute path', { files: [script('', '/etc/x')] }, 'files.0.path'],
    ['a backslash', { files: [script('', 'a\\b')] }, 'files.0.path'],
    ['the same path twice', { files: [script('', 'a'), script('', './a')] }, 'files.1.path'],
    [
      'an input file in the place of a file',
      { files: [script('', './a')], inputFiles: [input('a')] },
      'inputFiles.0.path',
    ],
    ['an input file below a file', { files: [script('', 'a')], inputFiles: [input('a/b')] }, 'inputFiles.0.path'],
    [
      'a file below an input file',
      { files: [script('', 'a/b')], inputFiles: [input('x'), input('a')] },
      'inputFiles.1.path',
    ],
    ['content that is not base64', { files: [{ path: 'a', content: 'ä' }] }, 'files.0.content'],
    ['a bad variable name', { env: { '1X': 'y' } }, 'env.1X'],
    ['a variable of ours', { secretEnv: { ROPEWALK_INSTANCE: 'i' } }, 'secretEnv.ROPEWALK_INSTANCE'],
    [
      'a header that cannot be honoured',
      { command: ['run.sh'], files: [script('# COILED download mine\n')] },
      'download',
    ],
  ])('names the field at fault: %s', async (_what, body, field) => {
    const api = await createTestApi();
    const response = await api.call('POST', '/v1/jobs', { body: { command: ['true'], ...body } });
    expect(response.status).toBe(422);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: 'VALIDATION', field });
    expect(error.message.length).toBeGreaterThan(10);
    expect(stored(api)).toEqual([]);
  });
});

describe('reading jobs', () => {
  it('shows a job as pending between admission and start, and answers the same 404 for an unknown job and one of another workspace', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    await api.call('POST', '/v1/jobs', { body: { command: ['echo', 'a b'], ntasks: 3 } });
    const pending = await (await api.call('GET', '/v1/jobs/1')).json();
    expect(pending).toMatchObject({
      status: 'pending',
      command: "echo 'a b'",
      array: '0-2',
      tasks: { total: 3, pending: 3 },
      staleSince: null,
    });
    api.workflows.control.isUnavailable = false;
    await api.work();
    expect((await api.call('GET', '/v1/jobs/1')).status).toBe(200);
    const stranger = await api.addToken('stranger');
    for (const [method, path] of [
      ['GET', '/v1/jobs/N'],
      ['GET', '/v1/jobs/N/tasks'],
      ['GET', '/v1/jobs/N/logs'],
      ['POST', '/v1/jobs/N/cancel'],
      ['GET', '/v1/clusters/N'],
      ['POST', '/v1/clusters/N/stop'],
    ] as const) {
      const ask = async (number: number) => {
        const headers = { 'x-request-id': 'same' };
        const response = await api.call(method, path.replace('N', String(number)), { token: stranger, headers });
        return { status: response.status, headers: [...response.headers], body: await response.text() };
      };
      const foreign = await ask(1);
      const absent = await ask(2);
      expect(foreign.status).toBe(404);
      expect(foreign).toEqual({ ...absent, body: absent.body.replace(/\b2\b/, '1') });
    }
    expect(api.workflows.jobs.get(1)?.cancelRequested).toBeNull();
  });

  it('cancels once, and answers the same for one that has ended', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3 });
    for (let n = 0; n < 2; n += 1) {
      const response = await api.call('POST', `/v1/jobs/${number}/cancel`);
      expect(response.status).toBe(202);
      expect(await response.json()).toMatchObject({
        status: 'cancelled',
        tasks: { cancelled: 3 },
        reason: { text: 'Cancelled by ada.' },
      });
    }
    expect(api.workflows.calls.filter((call) => call.startsWith('signal'))).toHaveLength(1);
    const stopped = await api.call('POST', `/v1/clusters/${number}/stop`);
    expect([stopped.status, (await stopped.json()).status]).toEqual([202, 'stopping']);
  });
});

describe('the number in a path', () => {
  it.each(['1e2', '0x1', '1.0', '+1', ' 1', '-1', '0', '1234567890123456', 'one'])('is not %o', async (number) => {
    const api = await createTestApi();
    const response = await api.call('GET', `/v1/jobs/${encodeURIComponent(number)}`);
    expect(response.status).toBe(422);
    expect(await errorOf(response)).toMatchObject({ code: 'VALIDATION', field: 'number' });
  });

  it('has decimal digits only', async () => {
    const api = await createTestApi();
    const response = await api.call('GET', '/v1/jobs/100');
    expect(await errorOf(response)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('also those of a page', async () => {
    const api = await createTestApi();
    const response = await api.call('GET', '/v1/jobs?limit=1e2');
    expect(await errorOf(response)).toMatchObject({ code: 'VALIDATION', field: 'limit' });
  });
});
