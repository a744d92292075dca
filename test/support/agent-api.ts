// A stand-in for the API, as agents see it: a real HTTP server on 127.0.0.1 with a scripted queue of tasks in place of a job
// workflow. It keeps the promises that agents rely on (a repeated claim gets the same grants, leases only grow) and lets a test
// withhold the rest: acknowledgements, answers, tokens, the server itself. With `dask` it stands in for a Dask cluster instead:
// the first instance that registers is its head, and its scheduler's address becomes an order to all.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { errorHeader, exchangeRequest, registerRequest, reportRequest } from '../../schema/agent.ts';
import type {
  Bundle,
  ExchangeAnswerBody,
  ExchangeRequest,
  RegisterAnswer,
  RegisterRequest,
  ReportRequest,
} from '../../schema/agent.ts';
import { noteDaskReport, ordersFor, routeDask } from './dask-api.ts';
import type { DaskApi } from './dask-api.ts';

type Grant = ExchangeAnswerBody['grants'][number];

export interface AgentApi {
  url: string;
  launchToken: string;
  bundle: Bundle;
  registration: Omit<RegisterAnswer, 'instanceToken' | 'expiresAt'>;
  /** The parts of every exchange's answer besides grants, acknowledgements and drops. */
  answer: Pick<
    ExchangeAnswerBody,
    | 'retryAfterMs'
    | 'renewWithinMs'
    | 'taskCount'
    | 'schedulerAddress'
    | 'schedulerHostname'
    | 'readyWorkers'
    | 'stop'
    | 'mayHold'
    | 'addresses'
  >;
  acknowledges: boolean;
  /** Ended leases: an agent that reports them as running gets the order to drop them. */
  ended: Set<number>;
  /** Answers to give instead, one request each, before any other rule applies. */
  failures: { status: number; headers?: Record<string, string>; path?: string }[];
  /** While set, a proxy before the API answers every request, with this status and a page of HTML. */
  proxyAnswers: number | null;
  /** Lost answers: the request counts, then the connection breaks. One path each. */
  lost: string[];
  registrations: RegisterRequest[];
  reports: (ReportRequest & { instance: string })[];
  exchanges: (ExchangeRequest & { instance: string })[];
  /** Null for a job's cluster. */
  dask: DaskApi | null;
  /** When each request arrived, refused ones too. */
  arrivals: { path: string; atMs: number }[];
  /** Puts tasks with these array ids into the queue. */
  enqueue(...taskIds: number[]): void;
  /** Every result of every exchange, repetitions included. */
  results(): ExchangeRequest['results'];
  /** Refuses all instance tokens issued so far. */
  revokeTokens(): void;
  /** As an outage: connections break, and the port is closed until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
}

interface TaskQueue {
  queue: number[];
  nextLease: number;
  tokenSeries: number;
  claims: Map<string, { claim: number; grants: Grant[] }>;
}

export async function startAgentApi(bundle: Partial<Bundle> = {}): Promise<AgentApi> {
  const tasks: TaskQueue = { queue: [], nextLease: 1, tokenSeries: 1, claims: new Map() };
  let port = 0;
  let server: Server | null = null;
  const listen = async (): Promise<void> => {
    const fresh = createServer((request, response) => {
      void serve(api, tasks, request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      fresh.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    const address = fresh.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    port = address.port;
    server = fresh;
  };
  const api: AgentApi = {
    url: '',
    launchToken: 'launch-secret-of-this-test',
    bundle: {
      ...{
        runtime: { kind: 'host' },
        command: ['true'],
        env: {},
        secretNames: [],
        hostSetupScript: null,
        gpuIdleAfterMs: null,
        inputs: null,
        taskCount: null,
        taskTimeoutMs: null,
      },
      files: [],
      ...{ inputFiles: [], output: null },
      ...bundle,
    },
    registration: {
      cluster: { number: 7, name: 'job-7', workspace: 'weather' },
      job: 7,
      role: 'worker',
      schedulerAddress: '127.0.0.1',
      watchdogTimeoutMs: 1_800_000,
      instanceCredentials: false,
    },
    answer: {
      schedulerHostname: null,
      mayHold: 1,
      retryAfterMs: 100,
      renewWithinMs: 1_000,
      taskCount: 1,
      schedulerAddress: '127.0.0.1',
      readyWorkers: ['127.0.0.1'],
      stop: null,
    },
    acknowledges: true,
    ended: new Set(),
    failures: [],
    proxyAnswers: null,
    lost: [],
    registrations: [],
    reports: [],
    exchanges: [],
    dask: null,
    arrivals: [],
    enqueue: (...taskIds) => void tasks.queue.push(...taskIds),
    results: () => api.exchanges.flatMap((exchange) => exchange.results),
    revokeTokens: () => void (tasks.tokenSeries += 1),
    close: async () => {
      const closing = server;
      if (closing === null) return;
      server = null;
      closing.closeAllConnections();
      await new Promise<void>((resolve) => closing.close(() => resolve()));
    },
    open: listen,
  };
  await listen();
  api.url = `http://127.0.0.1:${port}`;
  return api;
}

async function serve(
  api: AgentApi,
  tasks: TaskQueue,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? '';
  api.arrivals.push({ path, atMs: Date.now() });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  if (api.proxyAnswers !== null) {
    const headers = { 'content-type': 'text/html', location: 'https://login.example/' };
    response.writeHead(api.proxyAnswers, headers).end('<html><body>Nothing here</body></html>');
    return;
  }
  const failure = api.failures.findIndex((planned) => planned.path === undefined || planned.path === path);
  if (failure >= 0) {
    const [planned] = api.failures.splice(failure, 1);
    return refuse(response, planned?.status ?? 500, planned?.headers);
  }
  const answer = await route(api, tasks, path, request.headers.authorization ?? '', text);
  const losing = api.lost.indexOf(path);
  if (losing >= 0) {
    api.lost.splice(losing, 1);
    response.destroy();
  } else if (typeof answer === 'number') refuse(response, answer);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

async function route(
  api: AgentApi,
  tasks: TaskQueue,
  path: string,
  authorization: string,
  text: string,
): Promise<object | number> {
  const suffix = `-series-${tasks.tokenSeries}`;
  if (path === '/v1/agent/register') {
    if (authorization !== `Bearer ${api.launchToken}`) return 401;
    const body = registerRequest.parse(JSON.parse(text));
    api.registrations.push(body);
    const token = { instanceToken: `${body.instance}${suffix}`, expiresAt: '2099-01-01T00:00:00Z' };
    if (api.dask === null) return { ...api.registration, ...token };
    api.dask.head ??= body.instance;
    const role = api.dask.head === body.instance ? 'head' : 'worker';
    return { ...api.registration, job: null, role, schedulerAddress: null, ...token };
  }
  const token = authorization.replace('Bearer ', '');
  if (!/^i[_-]/.test(token) || !token.endsWith(suffix)) return 401;
  const instance = token.slice(0, -suffix.length);
  if (path === '/v1/agent/bundle') return api.dask?.bundle ?? api.bundle;
  if (path === '/v1/agent/report') {
    const report = reportRequest.parse(JSON.parse(text));
    api.reports.push({ ...report, instance });
    if (api.dask !== null) noteDaskReport(api.dask, instance, report);
    return { stop: null, token: null, orders: api.dask === null ? null : ordersFor(api.dask, instance) };
  }
  // Its instances share no environments.
  if (path === '/v1/agent/environment-builds') return { do: 'alone' };
  if (api.dask !== null) return routeDask(api.dask, instance, path, text);
  if (path !== '/v1/agent/exchange') return 404;
  const body = exchangeRequest.parse(JSON.parse(text));
  api.exchanges.push({ ...body, instance });
  const leases = body.results.map((result) => result.lease);
  return {
    ...api.answer,
    grants: body.want === 0 || api.answer.stop !== null ? [] : grantsFor(tasks, instance, body),
    acknowledged: api.acknowledges ? leases : [],
    drop: body.running.filter((lease) => api.ended.has(lease)),
    token: null,
  };
}

function grantsFor(tasks: TaskQueue, instance: string, body: ExchangeRequest): Grant[] {
  const last = tasks.claims.get(instance);
  if (last !== undefined && body.claim <= last.claim) return body.claim === last.claim ? last.grants : [];
  const grants = tasks.queue.splice(0, body.want).map((taskId) => {
    tasks.nextLease += 1;
    return { lease: tasks.nextLease - 1, task: taskId, taskId, attempt: 1 };
  });
  tasks.claims.set(instance, { claim: body.claim, grants });
  return grants;
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  const error = { code: 'INTERNAL', message: `scripted ${status}`, requestId: 'test' };
  const own = { 'content-type': 'application/json', [errorHeader]: error.code };
  response.writeHead(status, { ...own, ...headers }).end(JSON.stringify({ error }));
}
