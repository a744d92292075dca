// Secrets stay in their places: a complete run on a real stack with a canary in every secret input, then a search of everything
// written, shown or passed on.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startStack, type TestStack } from '../support/stack.ts';
import { findIn, findInFiles, findInProcesses, formsOf, readTemporal } from './canaries.ts';

const canary = (name: string) => `canary/${name}+${Math.random().toString(36).slice(2)}~${Date.now()}=`;
const secrets: Record<string, string> = {
  secretEnv: canary('secret-env'),
  env: canary('env'),
  file: canary('file'),
  workerOption: canary('worker-option'),
  clusterSecret: canary('cluster-secret'),
  failing: canary('failing'),
};
/** In URLs, which encode other characters differently. */
const inUrls = Object.fromEntries(
  ['user', 'path', 'query', 'index-password', 'index-path', 'git', 'webhook'].map((name) => [
    `url-${name}`,
    `canary-${name}-${Math.random().toString(36).slice(2)}`,
  ]),
);
Object.assign(secrets, inUrls);
const openName = `no-secret-${Date.now()}`;
/** The beginning of every token that this deployment signs. */
const jwt = /eyJhbGciOiJIUzI1NiI[\w-]+\.eyJ[\w-]+\.[\w-]{20}/;

let stack: TestStack;
let go: string;
const answers: string[] = [];
let metricsPort: number;

beforeAll(async () => {
  go = await mkdtemp(join(tmpdir(), 'ropewalk-go-'));
  metricsPort = await freePort();
  stack = await startStack({
    overrides: {
      api: { logLevel: 'debug', env: { ROPEWALK_METRICS_ADDRESS: `127.0.0.1:${metricsPort}` } },
      // Without retries, an unresponsive index fails at once.
      worker: { logLevel: 'debug', env: { UV_HTTP_RETRIES: '0' } },
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await rm(go, { recursive: true, force: true });
});

const call = async (method: string, path: string, body?: unknown) => {
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' };
  const response = await fetch(stack.apiUrl + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

describe('a life with secrets', () => {
  it('leaves none where it does not belong', { timeout: 600_000 }, async () => {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const file = Buffer.from(`# ${secrets['file']}\n`).toString('base64');
    const common = {
      env: { PLAIN: secrets['env'] ?? '', GO: join(go, 'go') },
      secretEnv: { SECRET: secrets['secretEnv'] ?? '' },
      files: [{ path: 'note.txt', content: file }],
    };
    const wait = ['bash', '-c', 'while [ ! -e "$GO" ]; do sleep 0.1; done'];
    const running = await call('POST', '/v1/jobs', { ...common, name: openName, command: wait, ntasks: 2 });
    const failing = await call('POST', '/v1/jobs', {
      command: ['bash', '-c', 'exit 3'],
      secretEnv: { SECRET: secrets['failing'] },
      retries: 1,
    });
    const cluster = await call('POST', '/v1/clusters', {
      workers: 0,
      secretEnv: { SECRET: secrets['clusterSecret'] },
      workerOptions: { note: secrets['workerOption'] },
    });
    expect([running.status, failing.status, cluster.status]).toEqual([201, 201, 201]);
    const ofUrl = `pkg @ http://ada:${inUrls['url-user']}@127.0.0.1:9/${inUrls['url-path']}/pkg-1.0-py3-none-any.whl?sig=${inUrls['url-query']}`;
    const index = {
      ...{ url: `http://127.0.0.1:9/${inUrls['url-index-path']}/simple`, default: true },
      ...{ username: 'ada', password: inUrls['url-index-password'] },
    };
    const withUrls = [
      await call('POST', '/v1/jobs', { command: ['true'], software: { requirements: [ofUrl] } }),
      await call('POST', '/v1/jobs', {
        command: ['true'],
        software: { requirements: ['no-such-package-here'], indexes: [index] },
      }),
    ];
    const inEnvironment = { software: { requirements: [ofUrl], indexes: [index] } };
    const hook = { url: `https://hooks.example/${inUrls['url-webhook']}?token=${inUrls['url-webhook']}` };
    const stored = [
      await call('PUT', '/v1/environments/urls', inEnvironment),
      await call('POST', '/v1/webhooks', hook),
    ];
    expect([...withUrls, ...stored].map(({ status }) => status)).toEqual([201, 201, 200, 201]);
    answers.push(...[...withUrls, ...stored].map(({ text }) => text));
    const numberOf = ({ text }: { text: string }): number => Number(JSON.parse(text).number);
    const made = JSON.parse((await call('POST', '/v1/tokens', { name: 'ci' })).text);
    const login = JSON.parse((await call('POST', '/v1/login/device', {})).text);
    Object.assign(secrets, {
      token: stack.token.split('-').slice(1).join('-'),
      madeToken: String(made.token).split('-').slice(1).join('-'),
      deviceCode: String(login.deviceCode).split('.')[1],
      userCode: String(login.userCode),
    });
    // An error does not repeat the refused text.
    const nul = `${secrets['secretEnv']}\0`;
    for (const [path, body] of [
      ['/v1/jobs', { command: ['true'], secretEnv: { A: nul } }],
      ['/v1/jobs', { command: ['true'], env: { ROPEWALK_A: secrets['env'] } }],
      ['/v1/jobs', { command: ['true'], secretEnv: secrets['secretEnv'] }],
      ['/v1/clusters', { workerOptions: { name: secrets['workerOption'] } }],
      ['/v1/login/device/token', { deviceCode: 7, more: secrets['env'] }],
      ['/v1/jobs', { command: ['true'], software: { requirements: [`x @ git+https://ada:${inUrls['url-git']}@h/x`] } }],
      [
        '/v1/jobs',
        { command: ['true'], software: { indexes: [{ url: `https://ada:${inUrls['url-git']}@h/simple` }] } },
      ],
    ] as const) {
      const refused = await call('POST', path, body);
      expect(refused.status).toBe(422);
      answers.push(refused.text);
    }
    await eventually(async () => ((await client.jobs.get(numberOf(running))).tasks.running === 2 ? true : null));

    const forms = formsOf(secrets);
    const ofTask = (environ: string) =>
      environ.includes('ROPEWALK_TASK_ATTEMPT=') || environ.includes('COILED_CLUSTER_ID=');
    const inProcesses = await findInProcesses(forms, ofTask);
    expect(inProcesses.processes).toBeGreaterThan(5);
    expect(inProcesses.hits).toEqual([]);

    await writeFile(join(go, 'go'), '');
    await client.jobs.wait(numberOf(running));
    await client.jobs.wait(numberOf(failing)).catch(() => undefined);
    for (const each of withUrls) {
      // It reports the failed download, and would keep trying. Its agent installs uv first.
      await eventually(
        async () => {
          const { text } = await call('GET', `/v1/clusters/${numberOf(each)}/events`);
          return text.includes('127.0.0.1:9/…') ? true : null;
        },
        { timeoutMs: 150_000 },
      );
      await call('POST', `/v1/jobs/${numberOf(each)}/cancel`);
      await client.jobs.wait(numberOf(each)).catch(() => undefined);
    }
    await call('POST', `/v1/clusters/${numberOf(cluster)}/stop`);
    await eventually(async () =>
      ['stopped', 'error'].includes((await client.clusters.get(numberOf(cluster))).status) ? true : null,
    );
    for (const each of [running, failing]) answers.push((await call('GET', `/v1/jobs/${numberOf(each)}`)).text);
    for (const each of withUrls) {
      const parts = ['jobs', 'clusters'].flatMap((kind) =>
        ['', '/why', '/events', '/logs', '/at'].map((part) => `/v1/${kind}/${numberOf(each)}${part}`),
      );
      for (const path of parts) answers.push((await call('GET', path)).text);
    }
    expect(answers.join('\n')).toContain('127.0.0.1:9/…');
    for (const path of ['/v1/environments', '/v1/environments/urls', '/v1/webhooks', '/v1/webhook-deliveries']) {
      answers.push((await call('GET', path)).text);
    }
    for (const path of ['/v1/jobs', '/v1/clusters', '/v1/tokens', '/v1/users', '/v1/workspace']) {
      answers.push((await call('GET', path)).text);
    }

    const histories = await readTemporal({ address: stack.temporalAddress, namespace: stack.namespace });
    expect(histories.length).toBeGreaterThanOrEqual(6);
    // The search covers the right places: it finds a name that is not secret.
    const open = formsOf({ open: openName });
    expect(findIn(open, histories.join('\n'), 'histories')).toHaveLength(1);
    const openPlaces = (await findInFiles(open, stack.home, () => false)).hits.map(({ place }) => place);
    expect(openPlaces.some((place) => place.startsWith('temporal.db'))).toBe(true);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toContain('ropewalk_');
    const texts = { histories: histories.join('\n'), answers: answers.join('\n'), output: stack.output(), metrics };
    for (const [place, text] of Object.entries(texts)) {
      expect(findIn(forms, text, place)).toEqual([]);
      expect(jwt.exec(text)?.[0] ?? null).toBeNull();
    }
    expect(texts.output).toContain('answered');

    // The user's own token is in their own file, which only they can read; a task's files are in its own directory.
    const expected = (path: string) => path === 'config.yaml' || /^instances\/[^/]+\/(tasks|work)\//.test(path);
    const inFiles = await findInFiles(forms, stack.home, expected);
    expect(inFiles.files).toBeGreaterThan(10);
    expect(inFiles.hits).toEqual([]);
  });
});

describe('the search', () => {
  it('finds what is planted: in a file, in its name, in arguments, in variables, in every form', async () => {
    const secret = canary('planted');
    const forms = formsOf({ planted: secret });
    for (const text of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(`a${secret}`).toString('base64'),
      Buffer.from(JSON.stringify({ bc: secret })).toString('base64'),
    ]) {
      expect(findIn(forms, `before ${text} after`, 'here')).toEqual([{ secret: 'planted', place: 'here' }]);
    }
    expect(findIn(forms, canary('planted'), 'here')).toEqual([]);
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-planted-'));
    await writeFile(join(directory, 'a'), `x${secret}y`);
    const inFiles = await findInFiles(forms, directory, () => false);
    expect(inFiles.hits).toEqual([{ secret: 'planted', place: 'a' }]);
    await rm(directory, { recursive: true });
    const args = ['-e', 'setTimeout(() => {}, 60_000)', '--', secret];
    const children = [
      spawn(process.execPath, args, { env: {}, stdio: 'ignore' }),
      spawn(process.execPath, args.slice(0, 2), { env: { PLANTED: secret }, stdio: 'ignore' }),
    ];
    try {
      const found = await eventually(async () => {
        const { hits } = await findInProcesses(forms, () => false);
        return hits.length >= 2 ? hits.map(({ place }) => place.split(' of ')[0]) : null;
      });
      expect(new Set(found)).toEqual(new Set(['arguments', 'variables']));
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  });
});
