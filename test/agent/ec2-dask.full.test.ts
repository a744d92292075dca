// A Dask cluster of real agents on emulated machines of EC2: each with its own address, its lines in CloudWatch, and a worker on
// an interrupted instance, which the head instance drains by order. Where the test is root, as agents on machines are, Dask runs
// as another user.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { buildAgent } from '../../agent/build.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { createDaskApi } from '../support/dask-api.ts';
import { eventually } from '../support/eventually.ts';

const user = process.getuid?.() === 0 ? 'daemon' : '';
/** System programs: one in a home directory is out of the other user's reach. */
const path = user === '' ? (process.env['PATH'] ?? '') : '/usr/bin:/bin';
const seconds = { timeoutMs: 60_000 };

let scratch: string;
let cloud: TestCloud;
let api: AgentApi;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-dask-'));
  const agent = join(scratch, 'agent.mjs');
  await buildAgent(agent);
  // The other user may pass through; this checkout may be where it may not.
  await chmod(scratch, 0o711);
  const cacheDir = join(scratch, 'cache');
  await ensureEnvironment({
    ...{ cacheDir, requirements: withDefaults([]), pythonPath: 'python3', environment: { ...process.env, PATH: path } },
  });
  const own = `ROPEWALK_INSTANCE_DIR="${scratch}/$(basename "$PWD")" ROPEWALK_LOG_DIR="$PWD/logs"`;
  const where = `ROPEWALK_CLOUD=aws ROPEWALK_TASK_USER=${user} ${own}`;
  const shared = `ROPEWALK_CACHE_DIR="${cacheDir}" AWS_ENDPOINT_URL="\${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"`;
  cloud = await startCloud(
    `unset ROPEWALK_INSTANCE; PATH=${path} ${where} ${shared} exec "${process.execPath}" "${agent}"`,
  );
  api = await startAgentApi();
});
afterAll(async () => {
  await cloud.close();
  await api.close();
  await rm(scratch, { recursive: true, force: true });
});

it('starts, reports the interruption of a worker, and drains it by order', async () => {
  const dask = await createDaskApi();
  api.dask = dask;
  const owner = freshOwner();
  const start = async (): Promise<string> => {
    const request = { ...workersRequest(owner, 1), apiUrl: api.url, launchToken: api.launchToken };
    const { launched } = await cloud.provider.launch(request);
    return launched[0]?.id ?? '';
  };
  const process = (id: string) =>
    api.reports.findLast((report) => report.instance === id && report.process !== undefined)?.process;
  const hasStarted = (id: string) =>
    eventually(() => {
      if (process(id)?.state === 'error') throw new Error(JSON.stringify(process(id)));
      return process(id)?.state === 'started';
    }, seconds);
  const head = await start();
  await eventually(() => dask.head === head, seconds);
  const worker = await start();
  for (const id of [head, worker]) await hasStarted(id);
  const addressOf = (id: string) => api.registrations.find(({ instance }) => instance === id)?.address ?? '';
  expect(process(head)?.address).toContain(`tls://${addressOf(head)}:`);
  expect(process(worker)?.address).toContain(`tls://${addressOf(worker)}:`);
  expect(addressOf(head)).not.toBe(addressOf(worker));
  if (user !== '') {
    const uid = execFileSync('id', ['-u', user], { encoding: 'utf8' }).trim();
    expect(await usersOf([head, worker])).toEqual([uid]);
  }

  await cloud.emulator.send({ op: 'interrupt', id: worker });
  const interrupted = await eventually(
    () => api.reports.find(({ interruption }) => interruption !== undefined),
    seconds,
  );
  expect([interrupted.instance, interrupted.interruption?.kind]).toEqual([worker, 'terminate']);
  // It continues until the control plane decides about it.
  expect(process(worker)?.state).toBe('started');
  dask.update({ drain: [{ id: 1, worker: process(worker)?.name ?? '', deadlineSeconds: 60 }] });
  const drained = await eventually(() => api.reports.find((report) => report.drained !== undefined), seconds);
  expect(drained).toMatchObject({ instance: head, drained: [{ id: 1, outcome: 'drained' }] });

  dask.update({ stop: { code: 'CLUSTER_OVER', text: 'Cluster 7 has ended.' } });
  await eventually(async () => (await cloud.emulator.ledger()).live.length === 0, seconds);
  const lines: { instance: string; text: string }[] = [];
  for await (const line of cloud.provider.logs({ owner })) lines.push(line);
  const said = (id: string): string =>
    lines
      .filter(({ instance }) => instance === id)
      .map(({ text }) => text)
      .join('\n');
  expect(said(head)).toMatch(/Scheduler at: +tls:[\s\S]*Drain 1 of/);
  expect(said(worker)).toMatch(/Start worker at: +tls:[\s\S]*given notice: terminate/);
});

/** The user ids of all processes that have one of these instances in their environment, which agents do not have. */
async function usersOf(instances: readonly string[]): Promise<string[]> {
  const users = new Set<string>();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const text = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '');
    const variables = (await text('environ')).split('\0');
    if (!instances.some((id) => variables.includes(`ROPEWALK_INSTANCE=${id}`))) continue;
    const uid = /^Uid:\t(\d+)/m.exec(await text('status'))?.[1];
    if (uid !== undefined) users.add(uid);
  }
  return [...users];
}
