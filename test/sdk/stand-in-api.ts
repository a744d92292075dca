// A real HTTP server in place of the API: it sends the replies of the test and records the requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Cluster } from '../../schema/clusters.ts';
import type { Job, LogLine, Task } from '../../schema/jobs.ts';
import type { CreatedToken, Whoami } from '../../schema/people.ts';

export interface ReceivedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  /** Written unchanged, each in its own chunk. */
  chunks?: (string | Uint8Array)[];
  /** After the chunks: `hang` keeps the connection open, `break` cuts it; `refuse` cuts it before any answer. */
  ending?: 'end' | 'hang' | 'break' | 'refuse';
}

export interface StandIn {
  url: string;
  requests: ReceivedRequest[];
  /** Connections that the client closed before the end of the answer. */
  aborted: () => number;
  close(): Promise<void>;
}

export async function startStandIn(reply: (request: ReceivedRequest, nth: number) => Reply): Promise<StandIn> {
  const requests: ReceivedRequest[] = [];
  let aborted = 0;
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableEnded && !response.errored) aborted += 1;
    });
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const query = Object.fromEntries(url.searchParams);
    const body = await readBody(request);
    requests.push({ method: request.method ?? '', path: url.pathname, query, headers: request.headers, body });
    await write(response, reply(requests.at(-1) ?? noRequest(), requests.length));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    aborted: () => aborted,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function aJob(change: Partial<Job> = {}): Job {
  return {
    number: 12,
    workspace: 'default',
    name: 'job-12',
    command: 'my_script.sh',
    status: 'done',
    reason: null,
    user: 'ada',
    tasks: { total: 10, pending: 0, assigned: 0, running: 0, done: 10, error: 0, cancelled: 0 },
    counters: { stale: 0, repeated: 0, lost: 0, retried: 0 },
    array: '0-9',
    instances: 4,
    submittedAt: '2024-11-18T17:25:08.000Z',
    startedAt: '2024-11-18T17:25:10.000Z',
    endedAt: '2024-11-18T17:26:07.000Z',
    recentErrors: [],
    staleSince: null,
    ...change,
  };
}

export function aTask(change: Partial<Task> = {}): Task {
  return {
    id: 0,
    index: 0,
    state: 'done',
    attempt: 1,
    exitCode: 0,
    signal: null,
    instance: 'i_abc',
    startedAt: '2024-11-18T17:25:10.000Z',
    endedAt: '2024-11-18T17:25:12.500Z',
    reason: null,
    cost: { dollars: 0.0003 },
    ...change,
  };
}

type Dask = NonNullable<Cluster['dask']>;
type Instance = Cluster['instances'][number];

/** A Dask cluster that is ready, with two workers. */
export function aCluster({
  dask,
  ...change
}: Partial<Omit<Cluster, 'dask'>> & { dask?: Partial<Dask> | null } = {}): Cluster {
  return {
    number: 7,
    workspace: 'default',
    name: 'blue',
    job: null,
    user: 'ada',
    status: 'ready',
    reason: null,
    target: 3,
    provider: 'local',
    instances: [
      anInstance({
        id: 'i_head',
        role: 'head',
        process: aProcess({ name: 'scheduler', address: 'tls://127.0.0.1:8786' }),
      }),
      anInstance({ id: 'i_one', slot: 1, process: aProcess({ name: 'blue-worker-one' }) }),
      anInstance({ id: 'i_two', slot: 2, process: aProcess({ name: 'blue-worker-two' }) }),
    ],
    failures: [],
    events: [],
    createdAt: '2024-11-18T17:25:08.000Z',
    readyAt: '2024-11-18T17:25:10.500Z',
    endedAt: null,
    launched: 3,
    terminated: 0,
    dask: dask === null ? null : { ...aDask, ...dask },
    staleSince: null,
    ...change,
  };
}

const aDask: Dask = {
  schedulerAddress: 'tls://127.0.0.1:8786',
  workersWanted: 2,
  workersStarted: 2,
  workersErrored: 0,
  tasks: null,
  clients: 0,
  idleSince: null,
  adaptive: null,
};

export function anInstance(change: Partial<Instance> = {}): Instance {
  return {
    id: 'i_abc',
    role: 'worker',
    state: 'ready',
    slot: 0,
    generation: 1,
    address: '127.0.0.1',
    publicAddress: null,
    type: 'm6i.xlarge',
    market: 'on-demand',
    launchedAt: '2024-11-18T17:25:08.500Z',
    registeredAt: '2024-11-18T17:25:09.000Z',
    reason: null,
    process: null,
    ...change,
  };
}

export function aProcess(change: Partial<NonNullable<Instance['process']>> = {}): NonNullable<Instance['process']> {
  const at = '2024-11-18T17:25:10.000Z';
  return { name: 'blue-worker-abc', state: 'started', stage: 'dask', address: null, reason: null, at, ...change };
}

export function aLine(change: Partial<LogLine> = {}): LogLine {
  const at = '2025-07-09T16:50:37.844Z';
  return { at, instance: 'i_abc', task: 0, attempt: 1, stream: 'stdout', text: 'Hello from 0', ...change };
}

export const aWhoami: Whoami = {
  workspace: 'default',
  user: 'ada',
  role: 'admin',
  scopes: ['read', 'write', 'admin'],
  tokenId: 'abcdefghijkl',
  expiresAt: null,
};

export const aCreatedToken: CreatedToken = {
  id: 'abcdefghijkl',
  token: 'rw_default_abcdefghijkl-fresh_secret-1',
  workspace: 'default',
  user: 'ada',
  scopes: ['read', 'write'],
  expiresAt: '2026-12-01T00:00:00.000Z',
};

/** The first answer of a sign-in. */
export const aLoginStart = {
  deviceCode: 'device-secret',
  userCode: 'BCDF-GHJK',
  verificationUrl: 'https://x.example/login',
  verificationUrlComplete: 'https://x.example/login?code=BCDF-GHJK',
  expiresInSeconds: 600,
  intervalSeconds: 0,
};

/** No user has approved it yet. */
export const notYet = anError(428, { code: 'AUTHORIZATION_PENDING', message: 'not yet' }, { 'retry-after': '0' });

export function anError(status: number, error: Record<string, string>, headers: Record<string, string> = {}): Reply {
  return { status, headers, json: { error: { requestId: 'req_1', ...error } } };
}

function noRequest(): never {
  throw new Error('there was no request');
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (request.method === 'PUT' && !/json/.test(request.headers['content-type'] ?? '')) return bytes;
  const text = bytes.toString();
  return text === '' ? undefined : JSON.parse(text);
}

async function write(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.ending === 'refuse') {
    response.destroy();
    return;
  }
  const type = reply.chunks === undefined ? 'application/json' : 'application/x-ndjson';
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers });
  if (reply.json !== undefined) response.write(JSON.stringify(reply.json));
  response.flushHeaders();
  for (const chunk of reply.chunks ?? []) {
    response.write(chunk);
    // Let the chunk leave on its own: otherwise Node may send several as one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (reply.ending === 'hang') return;
  if (reply.ending === 'break') response.destroy();
  else response.end();
}
