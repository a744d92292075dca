// One API in memory: real app, services, vault and rules; Temporal and the object store are stand-ins.
import { createHash } from 'node:crypto';

import { pino } from 'pino';

import { createApp } from '../../api/app.ts';
import type { Ports } from '../../services/context.ts';
import { createTokens } from '../../platform/tokens.ts';
import { createVault } from '../../platform/vault/vault.ts';
import type { LogLine, LogQuery } from '../../providers/provider.ts';
import type { Role, Scope } from '../../domain/workspace/state.ts';
import type { JobView } from '../../contracts/job.ts';
import { viewJob } from '../../workflows/job/view.ts';
import { memoryObjects, testKeys } from '../platform/support.ts';
import { createMemoryWorkflows } from './memory-workflows.ts';

export function createTestApi({ cores = 4, ...more }: Partial<Ports> & { cores?: number } = {}) {
  const clock = { offsetMs: 0 };
  const now = () => Date.now() + clock.offsetMs;
  const objects = memoryObjects();
  const keys = testKeys();
  const vault = createVault(objects, keys, now);
  const tokens = createTokens(keys, now);
  const workflows = createMemoryWorkflows(objects, now);
  const stopping = new AbortController();
  const logged: string[] = [];
  const logs = { read: async function* (_query: LogQuery): AsyncGenerator<LogLine> {} };
  const app = createApp({
    workflows: workflows.port,
    objects,
    vault,
    tokens,
    keys,
    logger: pino({ level: 'trace' }, { write: (line) => void logged.push(line) }),
    now,
    publicUrl: 'http://127.0.0.1:7777',
    logs: (_provider, query) => logs.read(query),
    local: { hostId: 'host1', cores },
    stopping: stopping.signal,
    ...more,
  });

  let tokenCount = 0;
  const addToken = (slug: string, scopes: Scope[] = ['read', 'write'], user = 'ada', role: Role = 'admin'): string => {
    tokenCount += 1;
    const id = `tok${String(tokenCount).padStart(9, '0')}`;
    const secret = createHash('sha256').update(id).digest('base64url');
    const state = workflows.workspaces.get(slug) ?? workflows.addWorkspace(slug);
    const sha256 = createHash('sha256').update(secret).digest('hex');
    if (!state.users.some(({ name }) => name === user)) {
      state.users.push({ name: user, role, limits: {}, createdAtMs: now() });
    }
    state.tokens.push({ id, sha256, user, scopes, createdAtMs: now(), expiresAtMs: null, revokedAtMs: null });
    return `rw_${slug}_${id}-${secret}`;
  };
  const token = addToken('default');

  const call = (method: string, path: string, options: CallOptions = {}): Promise<Response> => {
    const headers = new Headers(options.headers);
    if (options.token !== null) headers.set('authorization', `Bearer ${options.token ?? token}`);
    if (options.body !== undefined) headers.set('content-type', 'application/json');
    const body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
    const init = { method, headers, ...(options.body === undefined ? {} : { body }) };
    return Promise.resolve(
      app.request(path, { ...init, ...(options.signal === undefined ? {} : { signal: options.signal }) }),
    );
  };

  /** Submits a job and starts its workflows. */
  const submit = async (body: object, options: CallOptions = {}): Promise<number> => {
    const response = await call('POST', '/v1/jobs', { ...options, body: { command: ['true'], ...body } });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    const { number } = await response.json();
    await workflows.startHolder('default', number);
    return number;
  };

  /** Starts a Dask cluster and its workflow. */
  const startCluster = async (body: object = {}, options: CallOptions = {}): Promise<number> => {
    const response = await call('POST', '/v1/clusters', { ...options, body });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    const { number } = await response.json();
    await workflows.startHolder('default', number);
    return number;
  };

  return {
    app,
    call,
    submit,
    startCluster,
    clock,
    now,
    objects,
    vault,
    tokens,
    workflows,
    token,
    addToken,
    logs,
    logged,
    stopping,
  };
}

export interface CallOptions {
  /** null sends none. */
  token?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export type TestApi = ReturnType<typeof createTestApi>;

/** An instance that was launched for a cluster, known to it under a launch of its own. */
export function launch(api: TestApi, number: number, id: string, slot = 0): void {
  api.workflows.clusters.get(number)?.instances.push({
    id,
    slot,
    generation: 1,
    role: slot === 0 ? 'head' : 'worker',
    state: 'starting',
    launchSeq: 1,
    launchedAtMs: api.now(),
    registeredAtMs: null,
    bootId: null,
    address: null,
    offer: 'local',
    zone: 'local',
    reason: null,
    suspicion: null,
    heardAtMs: api.now(),
    process: null,
    drain: null,
  });
}

/** Of application/x-ndjson. */
export const linesOf = async (response: Response) =>
  (await response.text())
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text));

export const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** The view that a job would leave if it ended now. */
export function endJob(api: TestApi, number: number): JobView {
  const job = api.workflows.jobs.get(number);
  if (job === undefined) throw new Error(`no job ${number}`);
  const input = {
    number,
    workspace: 'default',
    name: '',
    admissionId: '',
    specRef: '',
    user: 'ada',
    deploymentId: 'd',
  };
  return { ...viewJob(job, input), status: 'done', endedAtMs: api.now() };
}
