// Real agents on emulated machines of EC2: booted by user data and metadata alone, as on real ones.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { buildAgent } from '../../agent/build.ts';
import { leaveBeforeMs } from '../../agent/job/interruption.ts';
import { parseIdentityKeys, verifyIdentity } from '../../providers/aws/identity.ts';
import type { LogLine, Owner } from '../../providers/provider.ts';
import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';

let scratch: string;
let cloud: TestCloud;
let api: AgentApi;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-agent-'));
  const agent = join(scratch, 'agent.mjs');
  await buildAgent(agent);
  const where = 'ROPEWALK_CLOUD=aws ROPEWALK_INSTANCE_DIR="$PWD/own" ROPEWALK_LOG_DIR="$PWD/logs"';
  // A machine knows its cloud's endpoints; an emulated one finds them beside its metadata service.
  const endpoint = 'AWS_ENDPOINT_URL="${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"';
  cloud = await startCloud(`unset ROPEWALK_INSTANCE; ${where} ${endpoint} exec "${process.execPath}" "${agent}"`);
});
afterAll(async () => {
  await cloud.close();
  await rm(scratch, { recursive: true, force: true });
});
beforeEach(async () => {
  api = await startAgentApi();
});
afterEach(() => api.close());

async function launch(): Promise<{ id: string; owner: Owner; lines: () => Promise<LogLine[]> }> {
  const owner = freshOwner();
  const request = { ...workersRequest(owner, 1), apiUrl: api.url, launchToken: api.launchToken };
  const { launched } = await cloud.provider.launch(request);
  const lines = async (): Promise<LogLine[]> => {
    const found: LogLine[] = [];
    for await (const line of cloud.provider.logs({ owner })) found.push(line);
    return found;
  };
  return { id: launched[0]?.id ?? '', owner, lines };
}

const isLive = async (id: string): Promise<boolean> => (await cloud.emulator.ledger()).live.includes(id);

it('registers with its signed identity, works, and what it and its tasks print is in CloudWatch when it has ended', async () => {
  api.bundle = { ...api.bundle, command: ['sh', '-c', 'echo "task $ROPEWALK_BATCH_TASK_ID on $ROPEWALK_INSTANCE"'] };
  api.enqueue(3, 4);
  const { id, lines } = await launch();
  await eventually(() => api.results().length >= 2);
  const [registration] = api.registrations;
  expect(registration).toMatchObject({ instance: id, address: expect.stringMatching(/^127\.77\./) });
  const keys = parseIdentityKeys({ 'us-east-1': await cloud.emulator.identityKey() });
  const proof = registration?.identity ?? { document: '', signature: '' };
  expect(verifyIdentity(keys, proof)).toMatchObject({ instanceId: id });
  api.answer.stop = { code: 'JOB_OVER', text: 'Job 7 has ended.' };
  await eventually(async () => !(await isLive(id)));
  const read = await lines();
  const said = (task: number | null): string[] => read.filter((line) => line.task === task).map(({ text }) => text);
  expect([said(3), said(4)]).toEqual([[`task 3 on ${id}`], [`task 4 on ${id}`]]);
  expect(said(null).join('\n')).toMatch(/Registered as i-[\s\S]*Job 7 has ended/);
  expect(read.every(({ instance }) => instance === id)).toBe(true);
});

it('that is idle reports an interruption and leaves at once', async () => {
  const { id } = await launch();
  await eventually(() => api.exchanges.length > 0);
  await cloud.emulator.send({ op: 'interrupt', id });
  await eventually(async () => !(await isLive(id)));
  expect(api.reports.find(({ interruption }) => interruption !== undefined)).toMatchObject({
    instance: id,
    interruption: { kind: 'terminate', at: expect.stringMatching(/Z$/) },
  });
  expect(api.reports.at(-1)?.kind).toBe('leaving');
});

it('lets a task finish that can, takes no other, and leaves when its result is known', async () => {
  api.bundle = { ...api.bundle, command: ['sh', '-c', `while [ ! -e "${scratch}/go" ]; do sleep 0.05; done; exit 7`] };
  api.enqueue(0, 1);
  const { id } = await launch();
  await eventually(() => api.exchanges.some(({ running }) => running.length > 0));
  await cloud.emulator.send({ op: 'interrupt', id });
  await eventually(() => api.reports.some(({ interruption }) => interruption !== undefined));
  await writeFile(join(scratch, 'go'), '');
  await eventually(async () => !(await isLive(id)));
  const results = new Set(api.results().map(({ task, exitCode }) => `${task}: ${exitCode}`));
  expect([...results]).toEqual(['0: 7']);
  expect(api.reports.at(-1)).toMatchObject({ kind: 'leaving', instance: id });
});

it('ends a task that cannot finish, reports no result of it, and leaves before the termination', async () => {
  api.bundle = { ...api.bundle, command: ['sleep', '1000'] };
  api.enqueue(0);
  const { id, lines } = await launch();
  await eventually(() => api.exchanges.some(({ running }) => running.length > 0));
  await cloud.emulator.send({ op: 'interrupt', id, inMs: leaveBeforeMs + 2_000 });
  await eventually(async () => !(await isLive(id)));
  expect(api.results()).toEqual([]);
  expect(api.reports.at(-1)).toMatchObject({ kind: 'leaving', instance: id });
  expect((await lines()).map(({ text }) => text).join('\n')).toMatch(/given notice: terminate[\s\S]*it is returned/);
});
