// Two workspaces on one API in memory, and every kind of credential that somebody might show.
import { createDaskInstance, started } from '../api/dask-support.ts';
import { createTestApi, launch } from '../api/support.ts';

export type World = Awaited<ReturnType<typeof createWorld>>;

export async function createWorld({ isPrivate = false } = {}) {
  const api = createTestApi({ cores: 16 });
  const admin = api.addToken('default', ['read', 'write', 'admin', 'operator'], 'root');
  const member = api.addToken('default', ['read', 'write'], 'mia', 'member');
  /** Another admin than the one whose everything here is. */
  const otherAdmin = api.addToken('default', ['read', 'write', 'admin'], 'amy');
  const readOnly = api.addToken('default', ['read'], 'rob', 'read-only');
  const expired = api.addToken('default', ['read', 'write', 'admin'], 'root');
  const revoked = api.addToken('default', ['read', 'write', 'admin'], 'root');
  const foreign = api.addToken('other', ['read', 'write', 'admin'], 'eve');
  const tokenOf = (text: string) => api.workflows.workspaces.get('default')?.tokens.find(({ id }) => text.includes(id));
  Object.assign(tokenOf(expired) ?? {}, { expiresAtMs: api.now() - 1_000 });
  Object.assign(tokenOf(revoked) ?? {}, { revokedAtMs: api.now() - 1_000 });

  const own = isPrivate ? { privateToCreator: true } : {};
  const command = ['run', secretContent];
  const env = { SECRET: secretName };
  const job = await api.submit({ name: secretName, command, ntasks: 3, env, ...own }, { token: admin });
  const cluster = await api.startCluster({ name: `${secretName}-cluster`, workers: 0, ...own }, { token: admin });
  const head = await createDaskInstance(api, cluster, 0);
  await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
  const event = { atMs: api.now(), code: 'NOTE', text: secretContent };
  api.workflows.clusters.get(cluster)?.events.push(event);
  api.workflows.clusters.get(job)?.events.push(event);
  api.workflows.jobs.get(job)?.recentErrors.push({ task: 0, attempt: 1, text: secretContent, atMs: api.now() });
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
  // Numbers are of the whole deployment: those of another workspace are others.
  const others = api.workflows.workspaces.get('other');
  if (others !== undefined) others.block = { next: 5_001, end: 5_999 };
  const made = await api.call('POST', '/v1/jobs', { token: foreign, body: { command: ['true'] } });
  const theirJob = Number((await made.json()).number);
  await api.workflows.startHolder('other', theirJob);
  const theirs = { workspace: 'other', cluster: theirJob };
  const claims = { workspace: 'default', cluster, job: null, instance: head.id };
  const dashboardClaims = { workspace: 'default', cluster, user: 'root', tokenId: tokenOf(admin)?.id ?? '' };
  api.clock.offsetMs += 3_000;

  return {
    api,
    job,
    cluster,
    head,
    bootId,
    registration,
    people: { admin, member, otherAdmin, readOnly, foreign, expired, revoked },
    /** Of an admin's token. */
    tokenId: tokenOf(expired)?.id ?? '',
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
    /** What the workspace `default` has, less its objects. */
    ofDefault: (): string => {
      const { workspaces, jobs, clusters } = api.workflows;
      return JSON.stringify([workspaces.get('default'), jobs.get(job), clusters.get(job), clusters.get(cluster)]);
    },
    /** Everything that is kept anywhere, as one text. */
    async state(): Promise<string> {
      const { workspaces, jobs, clusters } = api.workflows;
      const objects = await Promise.all(
        api.objects
          .keys()
          .map(async (key) => [key, Buffer.from((await api.objects.get(key)) ?? []).toString('base64')]),
      );
      return JSON.stringify([[...workspaces], [...jobs], [...clusters], objects]);
    },
  };
}

/** Not to be seen in what another workspace is told. */
export const secretName = 'project-swordfish';
/** What the job and the cluster do and print; their creator alone sees it when they are private. */
export const secretContent = 'launch-codes';
