// One API in memory: real app, services, vault, database and rules; Temporal and the object store are stand-ins.
import { createHash } from 'node:crypto';

import { pino } from 'pino';

import { createApp } from '../../api/app.ts';
import type { JobView } from '../../contracts/job.ts';
import { launchedInstance } from '../../domain/cluster/instance/transitions.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Role, Scope } from '../../domain/people/state.ts';
import type { WorkspaceLimits } from '../../domain/quota/state.ts';
import type { Keys } from '../../platform/keys.ts';
import { hashSecret } from '../../platform/token-secret.ts';
import { createTokens } from '../../platform/tokens.ts';
import { createVault } from '../../platform/vault/vault.ts';
import type { LogLine, LogQuery } from '../../providers/provider.ts';
import { createDeps } from '../../services/create-deps.ts';
import type { Ports } from '../../services/ports.ts';
import { workOnce } from '../../services/deferred-work.ts';
import { openMemoryStore } from '../../store/open.ts';
import { viewJob } from '../../views/job.ts';
import { memoryFiles, memoryObjects, testKeys } from '../platform/support.ts';
import { createMemoryWorkflows } from './memory-workflows.ts';
import { testHost } from './providers.ts';

/** `workflows.control.isUnavailable` and `database.isUnavailable` simulate outages. */
export async function createTestApi({ cores = 4, ...more }: Partial<Ports> & { cores?: number } = {}) {
  const clock = { offsetMs: 0 };
  const now = more.now ?? (() => Date.now() + clock.offsetMs);
  const ownObjects = memoryObjects();
  const { objects = ownObjects, keys = testKeys() } = more;
  const vault = more.vault ?? createVault(objects, keys, now);
  const tokens = more.tokens ?? createTokens(keys, now);
  const database: TestDatabase = { isUnavailable: false, loseNextAnswerOf: null, now };
  const store = more.store ?? breakable(await openMemoryStore(() => database.now()), database);
  const workflows = createMemoryWorkflows({ store, objects, now });
  const stopping = new AbortController();
  const logged: string[] = [];
  const logs = { read: async function* (_query: LogQuery): AsyncGenerator<LogLine> {} };
  const deps = createDeps({
    workflows: workflows.port,
    store,
    deploymentId: 'd_test',
    objects,
    files: memoryFiles(),
    vault,
    tokens,
    keys,
    logger: pino({ level: 'trace' }, { write: (line) => void logged.push(line) }),
    now,
    monotonicMs: now,
    publicUrl: 'http://127.0.0.1:7777',
    dashboardUrl: 'http://127.0.0.1:7778',
    web: null,
    providers: [testHost({ cores, logs: (query) => logs.read(query) })],
    stopping: stopping.signal,
    ...more,
  });
  const app = createApp(deps);

  /** Created beneath the API, as by another process. */
  const addToken = async (
    slug: string,
    scopes: Scope[] = ['read', 'write'],
    user = 'ada',
    role: Role = 'admin',
    expiresAtMs: number | null = null,
  ): Promise<string> => {
    const users = await store.people.listUsers(slug);
    const made = newToken(keys);
    if (users.length === 0) await addWorkspace({ store, keys, now }, slug, user);
    else if (!users.some(({ name }) => name === user)) {
      expectOk(await store.people.putUser(slug, { name: user, role, by: null }, now()));
    }
    const item = { id: made.id, secretHash: made.secretHash, user, scopes, expiresAtMs, by: null };
    expectOk(await store.people.issueToken(slug, item, now()));
    return `rw_${slug}_${made.id}-${made.secret}`;
  };
  const token = more.store === undefined ? await addToken('default') : '';

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
  const create = async (path: string, body: object, options: CallOptions): Promise<number> => {
    const response = await call('POST', path, { ...options, body });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    return Number((await response.json()).number);
  };

  return {
    app,
    deps,
    call,
    /** Submits a job, which starts at once. */
    submit: (body: object, options: CallOptions = {}) => create('/v1/jobs', { command: ['true'], ...body }, options),
    /** Starts a Dask cluster. */
    startCluster: (body: object = {}, options: CallOptions = {}) => create('/v1/clusters', body, options),
    /** One round of the process's background work. */
    work: () => workOnce(deps),
    clock,
    now,
    objects: ownObjects,
    keys,
    vault,
    tokens,
    store,
    database,
    workflows,
    token,
    addToken,
    /** Beneath the API, as by another process. */
    revoke: async (text: string): Promise<void> => {
      const [, slug = '', id = ''] = /^rw_([a-z0-9-]+)_([a-z0-9]{12})-/.exec(text) ?? [];
      expectOk(await store.people.revokeToken(slug, { id, by: null }, now()));
    },
    /** For the workspace `default`. */
    setLimits: async (limits: Partial<WorkspaceLimits>): Promise<void> =>
      expectOk(await store.workspaces.configure('default', { limits, by: null }, now())),
    usage: async () => (await store.workspaces.usage('default')).total,
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

export type TestApi = Awaited<ReturnType<typeof createTestApi>>;

/** Another process on the same Temporal, database, object store and keys. It uses the first one's token. */
export async function createReplica(first: TestApi, more: Partial<Ports> = {}): Promise<TestApi> {
  const { objects, keys, vault, tokens, store, now, workflows } = first;
  const shared = { objects, keys, vault, tokens, store, now, workflows: workflows.port, ...more };
  const replica = await createTestApi(shared);
  const call: TestApi['call'] = (method, path, options) =>
    replica.call(method, path, { token: first.token, ...options });
  return { ...replica, objects, workflows, token: first.token, clock: first.clock, database: first.database, call };
}

let tokenCount = 0;

function newToken(keys: Keys): { id: string; secret: string; secretHash: string } {
  tokenCount += 1;
  const id = `tok${String(tokenCount).padStart(9, '0')}`;
  const secret = createHash('sha256').update(id).digest('base64url');
  return { id, secret, secretHash: hashSecret(keys, secret) };
}

async function addWorkspace(
  { store, keys, now }: Pick<Ports, 'store' | 'keys' | 'now'>,
  slug: string,
  name: string,
): Promise<void> {
  const { id, secretHash } = newToken(keys);
  expectOk(
    await store.workspaces.create({
      slug,
      admin: { name, token: { id, secretHash, expiresAtMs: null } },
      nowMs: now(),
    }),
  );
}

function expectOk(answer: object): void {
  if ('error' in answer) throw new Error(JSON.stringify(answer));
}

interface TestDatabase {
  isUnavailable: boolean;
  /** The next call of this method is carried out, and its answer lost. */
  loseNextAnswerOf: string | null;
  /** The part's own clock. */
  now: () => number;
}

/** The store, with methods that reject like a real one's while the database is unavailable. */
function breakable<T extends object>(part: T, state: TestDatabase): T {
  return new Proxy(part, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value === 'object' && value !== null) return breakable(value, state);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (state.isUnavailable) throw noDatabase();
        const answer: unknown = await Reflect.apply(value, target, args);
        if (state.loseNextAnswerOf !== name) return answer;
        state.loseNextAnswerOf = null;
        throw noDatabase();
      };
    },
  });
}

const noDatabase = () =>
  new RopewalkError({ code: 'UNAVAILABLE', message: 'The database cannot be used.' }, { retryAfterMs: 1_000 });

/** An instance of a cluster, known to it under a launch of its own. */
export function launch(api: TestApi, number: number, id: string, slot = 0): void {
  const item = { id, slot, offer: 'local', zone: 'local' };
  const launched = launchedInstance({ seq: 1, slots: [slot], atMs: api.now() }, item, 1, api.now());
  api.workflows.clusters.get(number)?.instances.push(launched);
}

/** The lines of application/x-ndjson. */
export const linesOf = async (response: Response) =>
  (await response.text())
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text));

export const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** The view of a job that ends now. */
export function endedView(api: TestApi, number: number): JobView {
  const job = api.workflows.jobs.get(number);
  if (job === undefined) throw new Error(`no job ${number}`);
  const [name, admissionId, specRef] = ['', '', ''];
  const ids = { number, workspace: 'default', name, admissionId, specRef, user: 'ada', deploymentId: 'd' };
  const input = { ...ids, privateToCreator: false };
  return { ...viewJob(job, input), status: 'done', endedAtMs: api.now() };
}
