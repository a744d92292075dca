// Every route with a token: its required right, a valid request, and the answer's status. The tests compare this list with the
// served routes.
import { createCsr } from '../../agent/dask/csr.ts';
import type { Scope } from '../../domain/people/state.ts';
import { packageContent, packageFile, type Fixture } from './fixture.ts';

export type Subject =
  | 'job'
  | 'cluster'
  | 'token'
  | 'user'
  | 'packageFile'
  | 'filestore'
  | 'environment'
  | 'budget'
  | 'approval'
  | 'schedule'
  | 'webhook';

export interface PeopleRoute {
  needs: Scope;
  /** The kind of object whose id is in the path. */
  subject?: Subject;
  body?: unknown;
  ok: number;
  /** Access to another user's private object: none, its outside, or its end, for an admin. */
  ofPrivate?: 'nothing' | 'outside' | 'end';
}

export const peopleRoutes: Record<string, PeopleRoute> = {
  'POST /v1/jobs': { needs: 'write', body: { command: ['true'] }, ok: 201 },
  'GET /v1/jobs': { needs: 'read', ok: 200, ofPrivate: 'outside' },
  'GET /v1/jobs/{number}': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'outside' },
  'GET /v1/jobs/{number}/tasks': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/task-states': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/costs': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/logs': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/events': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/at': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/why': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/jobs/{number}/configuration': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  // An open job has no tasks to retry.
  'POST /v1/jobs/{number}/retry': { needs: 'write', subject: 'job', body: {}, ok: 409, ofPrivate: 'nothing' },
  'POST /v1/jobs/{number}/tasks/cancel': {
    needs: 'write',
    subject: 'job',
    body: { tasks: '0' },
    ok: 202,
    ofPrivate: 'end',
  },
  'POST /v1/jobs/{number}/cancel': { needs: 'write', subject: 'job', ok: 202, ofPrivate: 'end' },
  'POST /v1/clusters': { needs: 'write', body: { workers: 1 }, ok: 201 },
  'GET /v1/clusters': { needs: 'read', ok: 200, ofPrivate: 'outside' },
  'GET /v1/clusters/{number}': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'outside' },
  'POST /v1/clusters/{number}/stop': { needs: 'write', subject: 'cluster', ok: 202, ofPrivate: 'end' },
  'POST /v1/clusters/{number}/scale': {
    needs: 'write',
    subject: 'cluster',
    body: { workers: 1 },
    ok: 202,
    ofPrivate: 'nothing',
  },
  'POST /v1/clusters/{number}/adapt': {
    needs: 'write',
    subject: 'cluster',
    body: { minimum: 0, maximum: 1 },
    ok: 202,
    ofPrivate: 'nothing',
  },
  'POST /v1/clusters/{number}/keepalive': {
    needs: 'write',
    subject: 'cluster',
    body: {},
    ok: 202,
    ofPrivate: 'nothing',
  },
  'GET /v1/clusters/{number}/credentials': { needs: 'write', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/clusters/{number}/costs': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/clusters/{number}/logs': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/clusters/{number}/events': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/clusters/{number}/at': {
    needs: 'read',
    subject: 'cluster',

    ok: 200,
    ofPrivate: 'nothing',
  },
  'GET /v1/clusters/{number}/why': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/clusters/{number}/configuration': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  'POST /v1/clusters/{number}/dashboard-link': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'nothing' },
  // The cluster of these tests was started without Jupyter.
  'POST /v1/clusters/{number}/jupyter-link': { needs: 'write', subject: 'cluster', ok: 409, ofPrivate: 'nothing' },
  'POST /v1/missing-package-files': { needs: 'write', body: { sha256s: ['0'.repeat(64)] }, ok: 200 },
  'PUT /v1/package-files/{sha256}': { needs: 'write', subject: 'packageFile', body: packageContent, ok: 204 },
  'GET /v1/package-files/{sha256}': { needs: 'write', subject: 'packageFile', ok: 200 },
  'POST /v1/file-uploads': { needs: 'write', body: { files: [{ sha256: '0'.repeat(64), bytes: 3 }] }, ok: 200 },
  'POST /v1/file-downloads': { needs: 'read', body: { sha256s: ['0'.repeat(64)] }, ok: 200 },
  'PUT /v1/file-blobs/{sha256}': { needs: 'write', subject: 'packageFile', body: packageContent, ok: 204 },
  'GET /v1/file-blobs/{sha256}': { needs: 'read', subject: 'packageFile', ok: 200 },
  'GET /v1/jobs/{number}/files': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'nothing' },
  'GET /v1/filestores/{name}/files': { needs: 'read', subject: 'filestore', ok: 200 },
  'POST /v1/filestores/{name}/files': {
    needs: 'write',
    subject: 'filestore',
    body: { files: [{ path: 'b.json', ...packageFile }] },
    ok: 204,
  },
  'GET /v1/live/clusters': { needs: 'read', ok: 200, ofPrivate: 'outside' },
  'GET /v1/live/clusters/{number}': { needs: 'read', subject: 'cluster', ok: 200, ofPrivate: 'outside' },
  'GET /v1/live/jobs': { needs: 'read', ok: 200, ofPrivate: 'outside' },
  'GET /v1/live/jobs/{number}': { needs: 'read', subject: 'job', ok: 200, ofPrivate: 'outside' },
  'GET /v1/environments': { needs: 'read', ok: 200 },
  'PUT /v1/environments/{environment}': {
    needs: 'write',
    subject: 'environment',
    body: { container: 'ubuntu' },
    ok: 200,
  },
  'GET /v1/environments/{environment}': { needs: 'read', subject: 'environment', ok: 200 },
  'DELETE /v1/environments/{environment}': { needs: 'write', subject: 'environment', ok: 200 },
  'GET /v1/clouds': { needs: 'admin', ok: 200 },
  'POST /v1/cloud-checks': { needs: 'admin', body: { cloud: 'local' }, ok: 200 },
  'GET /v1/costs': { needs: 'read', ok: 200 },
  'GET /v1/budgets': { needs: 'read', ok: 200 },
  'PUT /v1/workspace/defaults': { needs: 'admin', body: {}, ok: 200 },
  'PUT /v1/budgets/{budget}': {
    needs: 'admin',
    subject: 'budget',
    ok: 200,
    body: { dollars: 1_000_000, action: 'warn' },
  },
  'DELETE /v1/budgets/{budget}': { needs: 'admin', subject: 'budget', ok: 200 },
  'GET /v1/workspace/approval': { needs: 'read', ok: 200 },
  'PUT /v1/workspace/approval': { needs: 'admin', body: { dollarsPerHour: 5 }, ok: 200 },
  'GET /v1/approvals': { needs: 'read', ok: 200 },
  'POST /v1/approvals/{number}/approve': { needs: 'admin', subject: 'approval', body: {}, ok: 200 },
  'POST /v1/approvals/{number}/reject': { needs: 'admin', subject: 'approval', body: {}, ok: 200 },
  'POST /v1/schedules': {
    needs: 'write',
    body: { name: 'weekly', cron: '0 3 * * 1', job: { command: ['true'] } },
    ok: 201,
  },
  'GET /v1/notifications': { needs: 'read', ok: 200 },
  'POST /v1/webhooks': { needs: 'admin', body: { url: 'https://hooks.example/ropewalk' }, ok: 201 },
  'GET /v1/webhooks': { needs: 'read', ok: 200 },
  'GET /v1/webhook-deliveries': { needs: 'read', ok: 200 },
  'POST /v1/webhooks/{webhook}/test': { needs: 'admin', subject: 'webhook', ok: 202 },
  'DELETE /v1/webhooks/{webhook}': { needs: 'admin', subject: 'webhook', ok: 200 },
  'GET /v1/schedules': { needs: 'read', ok: 200 },
  'GET /v1/schedules/{schedule}': { needs: 'read', subject: 'schedule', ok: 200 },
  'POST /v1/schedules/{schedule}/pause': { needs: 'write', subject: 'schedule', ok: 202 },
  // A member's schedule: resuming starts jobs as the member, which no admin does.
  'POST /v1/schedules/{schedule}/resume': { needs: 'write', subject: 'schedule', ok: 403 },
  'POST /v1/schedules/{schedule}/trigger': { needs: 'write', subject: 'schedule', ok: 403 },
  'DELETE /v1/schedules/{schedule}': { needs: 'write', subject: 'schedule', ok: 202 },
  'POST /v1/plans/clusters': { needs: 'write', body: { workers: 1 }, ok: 200 },
  'POST /v1/plans/jobs': { needs: 'write', body: { command: ['true'] }, ok: 200 },
  'GET /v1/instance-types': { needs: 'read', ok: 200 },
  'GET /v1/whoami': { needs: 'read', ok: 200 },
  'POST /v1/tokens': { needs: 'read', body: { name: 'ci', scopes: ['read'] }, ok: 201 },
  'GET /v1/tokens': { needs: 'read', ok: 200 },
  'POST /v1/tokens/{id}/revoke': { needs: 'admin', subject: 'token', ok: 200 },
  'GET /v1/users': { needs: 'read', ok: 200 },
  'PUT /v1/users/{name}': { needs: 'admin', subject: 'user', body: { role: 'read-only' }, ok: 200 },
  'DELETE /v1/users/{name}': { needs: 'admin', subject: 'user', ok: 200 },
  'GET /v1/workspace': { needs: 'read', ok: 200 },
  'PUT /v1/workspace/limits': { needs: 'admin', body: { running: 7 }, ok: 200 },
  'POST /v1/workspaces': { needs: 'operator', body: { slug: 'third', admin: 'zoe' }, ok: 201 },
  'GET /v1/workspaces': { needs: 'operator', ok: 200 },
  'POST /v1/login/device/approve': { needs: 'read', body: { userCode: 'BCDF-GHJK' }, ok: 404 },
};

export interface AgentRoute {
  token: 'launch' | 'task' | 'dask';
  path?: (fixture: Fixture) => string;
  body?: (fixture: Fixture) => unknown;
  ok: number;
}

const { csrPem: csr } = await createCsr();
/** With a change: a report without one stays in the API. */
const report = ({ bootId }: Fixture) => ({ kind: 'alive', bootId, address: '127.0.0.1', unansweredForMs: 60_000 });

export const agentRoutes: Record<string, AgentRoute> = {
  'POST /v1/agent/register': { token: 'launch', body: ({ registration }) => registration, ok: 200 },
  'POST /v1/agent/report': { token: 'task', body: report, ok: 200 },
  'POST /v1/agent/exchange': {
    token: 'task',
    body: () => ({ claim: 1, want: 0, running: [], results: [], head: true }),
    ok: 200,
  },
  'GET /v1/agent/bundle': { token: 'task', ok: 200 },
  'GET /v1/agent/package-files/{sha256}': {
    token: 'task',
    path: ({ packageFile }) => `/v1/agent/package-files/${packageFile}`,
    ok: 200,
  },
  'POST /v1/agent/file-uploads': {
    token: 'task',
    body: () => ({ files: [{ sha256: '0'.repeat(64), bytes: 3 }] }),
    ok: 200,
  },
  'POST /v1/agent/file-downloads': { token: 'task', body: () => ({ sha256s: ['0'.repeat(64)] }), ok: 200 },
  'PUT /v1/agent/file-blobs/{sha256}': {
    token: 'task',
    path: () => `/v1/agent/file-blobs/${packageFile.sha256}`,
    body: () => packageContent,
    ok: 204,
  },
  'GET /v1/agent/file-blobs/{sha256}': {
    token: 'task',
    path: () => `/v1/agent/file-blobs/${packageFile.sha256}`,
    ok: 200,
  },
  'POST /v1/agent/task-files': {
    token: 'task',
    body: () => ({ task: 0, taskId: 0, attempt: 1, files: [{ path: 'out', ...packageFile }] }),
    ok: 200,
  },
  'POST /v1/agent/environment-builds': {
    token: 'task',
    body: () => ({ hash: '0'.repeat(64), platform: 'any', damaged: null }),
    ok: 200,
  },
  'POST /v1/agent/environment-builds/{build}/progress': {
    token: 'task',
    path: () => `/v1/agent/environment-builds/${'0'.repeat(64)}/progress`,
    body: () => ({ claim: 1, state: 'building' }),
    ok: 200,
  },
  'POST /v1/agent/environment-builds/{build}/archive': {
    token: 'task',
    path: () => `/v1/agent/environment-builds/${'0'.repeat(64)}/archive`,
    body: () => ({ claim: 1, ...packageFile, unpackedBytes: 3, buildMs: 1, isPinned: true }),
    ok: 200,
  },
  'PUT /v1/agent/environment-archives/{build}/{sha256}': {
    token: 'task',
    path: () => `/v1/agent/environment-archives/${'0'.repeat(64)}/${packageFile.sha256}`,
    body: () => packageContent,
    ok: 404,
  },
  'GET /v1/agent/environment-archives/{build}/{sha256}': {
    token: 'task',
    path: () => `/v1/agent/environment-archives/${'0'.repeat(64)}/${packageFile.sha256}`,
    ok: 404,
  },
  'GET /v1/agent/orders': { token: 'dask', ok: 200 },
  'POST /v1/agent/certificate': { token: 'dask', body: () => ({ csr }), ok: 200 },
};

export const foreignSubject = (
  { job, cluster, tokenId, packageFile, environment, webhook, approval }: Fixture,
  subject: Subject,
): string =>
  ({
    ...{ job: String(job), cluster: String(cluster), approval: String(approval), token: tokenId, user: 'mia' },
    ...{ packageFile, environment, budget: 'for-images', schedule: 'of-mia', filestore: 'results', webhook },
  })[subject];

export const randomSubject = (subject: Subject): string =>
  ({
    ...{ job: '424242', cluster: '424242', approval: '424242', token: 'zzzzzzzzzzzz', user: 'unknown-user' },
    ...{
      packageFile: 'f'.repeat(64),
      environment: 'none-of-it',
      budget: 'no-budget',
      schedule: 'none-such',
      webhook: `wh_${'0'.repeat(26)}`,
      filestore: 'nothing',
    },
  })[subject];

export const pathWith = (path: string, subject: string): string => path.replace(/\{\w+\}/, subject);
