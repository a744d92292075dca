// Two workspaces on one API in memory, and every kind of credential.
import { createHash } from 'node:crypto';

import { createDaskInstance, started } from '../api/dask-support.ts';
import { createTestApi, launch, type TestApi } from '../api/support.ts';

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

export async function createFixture({ isPrivate = false } = {}) {
  const api = await createTestApi({ cores: 16 });
  const admin = await api.addToken('default', ['read', 'write', 'admin', 'operator'], 'root');
  const member = await api.addToken('default', ['read', 'write'], 'mia', 'member');
  /** An admin other than the owner of everything here. */
  const otherAdmin = await api.addToken('default', ['read', 'write', 'admin'], 'amy');
  const readOnly = await api.addToken('default', ['read'], 'rob', 'read-only');
  const expired = await api.addToken('default', ['read', 'write', 'admin'], 'root', 'admin', api.now() - 1_000);
  const revoked = await api.addToken('default', ['read', 'write', 'admin'], 'root');
  await api.revoke(revoked);
  const foreign = await api.addToken('other', ['read', 'write', 'admin'], 'eve');
  const idOf = (text: string): string => text.split('_')[2]?.split('-')[0] ?? '';

  const own = isPrivate ? { privateToCreator: true } : {};
  const command = ['run', secretContent];
  const env = { SECRET: secretName };
  const { sha256 } = packageFile;
  for (const place of ['package-files', 'file-blobs']) {
    await api.call('PUT', `/v1/${place}/${sha256}`, { token: admin, body: packageContent });
  }
  const inResults = { files: [{ path: 'a.json', ...packageFile }] };
  await api.call('POST', '/v1/filestores/results/files', { token: admin, body: inResults });
  const software = { packageFiles: [{ name: 'modules.zip', sha256 }] };
  const environment = 'images';
  await api.call('PUT', `/v1/environments/${environment}`, { token: admin, body: { container: secretContent } });
  await api.call('PUT', '/v1/budgets/for-images', { token: admin, body: { dollars: 1_000_000 } });
  const schedule = { name: 'of-mia', cron: '0 3 * * *', job: { command: ['true'] } };
  await api.call('POST', '/v1/schedules', { token: member, body: schedule });
  const hook = await api.call('POST', '/v1/webhooks', { token: admin, body: { url: 'https://hooks.example/ours' } });
  const webhook = String((await hook.json()).id);
  const job = await api.submit({ name: secretName, command, ntasks: 3, env, software, ...own }, { token: admin });
  const cluster = await api.startCluster({ name: `${secretName}-cluster`, workers: 0, ...own }, { token: admin });
  const head = await createDaskInstance(api, cluster, 0);
  await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
  const event = { seq: 99, atMs: api.now(), code: 'NOTE', text: secretContent };
  api.workflows.clusters.get(cluster)?.events.push(event);
  api.workflows.clusters.get(job)?.events.push(event);
  api.workflows.jobs.get(job)?.recentErrors.push({ task: 0, attempt: 1, text: secretContent, atMs: api.now() });
  const secretCause = { text: secretContent, count: 1, lastAtMs: api.now() };
  Object.assign(api.workflows.jobs.get(job) ?? {}, { causes: { EXIT_1: secretCause } });
  api.logs.read = async function* () {
    yield { atMs: 1, instance: 'i_a', task: 0, attempt: 1, stream: 'stdout', text: secretContent };
  };
  const taskInstance = `i_task0000${job}`;
  launch(api, job, taskInstance);
  const { tokens } = api;
  const launchToken = await tokens.mintLaunch({ workspace: 'default', cluster: job, seq: 1 });
  const bootId = `boot-of-${taskInstance}-00000000`;
  const registration = { instance: taskInstance, bootId, address: '127.0.0.1', version: '0.1.0', pid: 42 };
  const registered = await api.call('POST', '/v1/agent/register', { token: launchToken, body: registration });
  const taskToken = String((await registered.json()).instanceToken);
  const made = await api.call('POST', '/v1/jobs', { token: foreign, body: { command: ['true'] } });
  const theirJob = Number((await made.json()).number);
  const theirs = { workspace: 'other', cluster: theirJob };
  const claims = { workspace: 'default', cluster, job: null, instance: head.id };
  const dashboardClaims = { workspace: 'default', cluster, user: 'root', tokenId: idOf(admin) };
  const approval = await askApproval(api, await api.submit({}, { token: member }));
  api.clock.offsetMs += 3_000;

  return {
    api,
    job,
    cluster,
    head,
    packageFile: sha256,
    environment,
    webhook,
    approval,
    bootId,
    registration,
    people: { admin, member, otherAdmin, readOnly, foreign, expired, revoked },
    /** Of an admin's token. */
    tokenId: idOf(expired),
    agents: {
      launch: launchToken,
      /** Of a job's instance, and of a Dask cluster's. */
      task: taskToken,
      dask: head.token,
      otherWorkspace: (await tokens.mintInstance({ ...theirs, job: theirJob, instance: taskInstance })).instanceToken,
      otherCluster: (await tokens.mintInstance({ ...claims, cluster: 999_999 })).instanceToken,
      otherWorkspaceLaunch: await tokens.mintLaunch({ ...theirs, seq: 1 }),
      nowhereLaunch: await tokens.mintLaunch({ workspace: 'other', cluster: 999_999, seq: 1 }),
      dashboard: (await tokens.mintDashboard(dashboardClaims)).token,
      session: (await tokens.mintDashboardSession(dashboardClaims)).token,
    },
    /** The workspace `default` without its objects. */
    ofDefault: async (): Promise<string> => {
      const { jobs, clusters } = api.workflows;
      return JSON.stringify([await rowsOf(api, 'default'), jobs.get(job), clusters.get(job), clusters.get(cluster)]);
    },
    /** All stored data, as one text. */
    async state(): Promise<string> {
      const { jobs, clusters } = api.workflows;
      const workspaces = await api.store.workspaces.list();
      const rows = await Promise.all(workspaces.map(({ slug }) => rowsOf(api, slug)));
      const objects = await Promise.all(
        api.objects
          .keys()
          .map(async (key) => [key, Buffer.from((await api.objects.get(key)) ?? []).toString('base64')]),
      );
      return JSON.stringify([workspaces, rows, [...jobs], [...clusters], objects]);
    },
  };
}

/** A request of mia's that needs an approval for its cost; it would run the same as `like`. */
async function askApproval({ store, now }: TestApi, like: number): Promise<number> {
  const rule = { microsPerHour: 1e12, totalMicros: null, allowOwn: false, timeoutMs: 86_400_000 };
  await store.approvals.setRule('default', { rule, by: null }, now());
  const specRef = (await store.jobs.find('default', like))?.specRef ?? '';
  const item = {
    ...{
      workspace: 'default',
      admissionId: 'adm_approval',
      idempotencyKey: 'approval',
      bodyHash: 'h',
      kind: 'job' as const,
    },
    ...{ name: '', getOrCreate: false, privateToCreator: false, specRef, command: 'true', user: 'mia' },
    ...{ instances: 1, vcpus: 1, workerVcpus: 1, estimate: { microsPerHour: 2e12, totalMicros: null } },
  };
  const answer = await store.admissions.admit(item, now());
  if ('error' in answer) throw new Error(answer.error.message);
  return answer.ok.number;
}

/** All database rows of a workspace. */
async function rowsOf({ store }: TestApi, workspace: string): Promise<unknown[]> {
  const { workspaces, people } = store;
  const all = { workspace, limit: 1_000 };
  return Promise.all([
    ...[workspaces.find(workspace), workspaces.usage(workspace), workspaces.events(workspace, 1_000)],
    ...[people.listUsers(workspace), people.listTokens(workspace, {})],
    ...[store.jobs.list(all), store.clusters.list(all), store.commands.list(1_000)],
    ...[store.approvals.rule(workspace), store.approvals.list(workspace, { before: null, limit: 1_000 })],
  ]);
}

/** Must not appear in any answer to another workspace. */
export const secretName = 'project-swordfish';
/** The content of a package file with the SHA-256 of this value's JSON. */
export const packageContent = { module: 'launch-codes' };
const packageText = JSON.stringify(packageContent);
export const packageFile = {
  sha256: createHash('sha256').update(packageText).digest('hex'),
  bytes: Buffer.byteLength(packageText),
};
/** The work and output of the job and the cluster; only their creator sees it when they are private. */
export const secretContent = 'launch-codes';
