// The EC2 parts of an agent, against the emulated cloud: its identity, its notices, and the destination of its lines.
import { CloudWatchLogsClient, PutLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createRoleCredentials } from '../../agent/aws/credentials.ts';
import { readBootLine, readEc2Instance } from '../../agent/aws/instance.ts';
import { batchBounds, createLogQueue, maxEventBytes } from '../../agent/logs/log-queue.ts';
import { createLogShipper } from '../../agent/logs/log-shipper.ts';
import { createLogsApi } from '../../agent/aws/logs-api.ts';
import { createMetadata } from '../../agent/aws/metadata.ts';
import { watchNotices } from '../../agent/aws/notices.ts';
import type { Notice } from '../../agent/lifecycle/input.ts';
import { logGroupOf, logStreamOf } from '../../domain/cloud-names.ts';
import { parseIdentityKeys, verifyIdentity } from '../../providers/aws/identity.ts';
import { readCloudLogs } from '../../providers/aws/logs.ts';
import type { LogLine, Owner } from '../../providers/provider.ts';
import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { eventually } from '../support/eventually.ts';

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.close());

async function launch(): Promise<{ id: string; owner: Owner; endpoint: string }> {
  const owner = freshOwner();
  const { launched } = await cloud.provider.launch(workersRequest(owner, 1));
  const id = launched[0]?.id ?? '';
  return { id, owner, endpoint: `${cloud.emulator.url}/imds/${id}` };
}

const seen: string[] = [];
const trouble = (text: string): void => void seen.push(text);

describe('the start on EC2', () => {
  it('reads its identity with its proof, and the address of the API', async () => {
    const { id, owner, endpoint } = await launch();
    const input = { metadata: createMetadata(`${endpoint}/`), directory: '/var/lib/ropewalk', cacheDir: null };
    const instance = await readEc2Instance({ ...input, isEmulated: false });
    expect(instance).toMatchObject({
      id,
      region: 'us-east-1',
      boot: {
        apiUrl: 'https://ropewalk.example',
        launchToken: 'a launch token',
        owner,
        cacheDir: '/var/lib/ropewalk/cache',
        powerOff: ['systemctl', 'poweroff'],
      },
    });
    expect(instance.boot.address).toMatch(/^127\.77\./);
    const keys = parseIdentityKeys({ 'us-east-1': await cloud.emulator.identityKey() });
    const proof = instance.boot.identity ?? { document: '', signature: '' };
    expect(verifyIdentity(keys, proof)).toMatchObject({ instanceId: id, region: 'us-east-1' });
    expect((await readEc2Instance({ ...input, isEmulated: true })).boot.powerOff).toBeNull();
  });

  it('renews its session when it expires, and goes on reading', async () => {
    const { id, endpoint } = await launch();
    const metadata = createMetadata(endpoint);
    expect(await metadata.read('latest/meta-data/instance-id')).toBe(id);
    await cloud.emulator.send({ op: 'advance', ms: 7 * 3_600_000 });
    expect(await metadata.read('latest/meta-data/instance-id')).toBe(id);
    expect(await metadata.read('latest/meta-data/no-such-thing')).toBeNull();
  });

  it('says what is missing from user data that is not ours', () => {
    expect(() => readBootLine('#!/bin/sh\necho hello\n')).toThrow('# ropewalk-boot:');
  });
});

describe('notices', () => {
  it('are reported once each, a rebalance recommendation before the interruption', async () => {
    const { id, endpoint } = await launch();
    const stopping = new AbortController();
    const notices: Notice[] = [];
    const metadata = createMetadata(endpoint);
    const onNotice = (notice: Notice): void => void notices.push(notice);
    const watching = watchNotices({ metadata, signal: stopping.signal, onNotice, onTrouble: trouble, everyMs: 20 });
    await cloud.emulator.send({ op: 'rebalance', id });
    await eventually(() => notices.length === 1);
    await cloud.emulator.send({ op: 'interrupt', id, inMs: 120_000 });
    await watching;
    expect(notices.map(({ kind }) => kind)).toEqual(['rebalance', 'terminate']);
    for (const { at } of notices) expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    stopping.abort();
  });
});

describe('lines in the queue', () => {
  it('leave in batches that CloudWatch takes, each once, and in order', () => {
    const line = fc.record({
      text: fc.oneof(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.nat({ max: 60_000 }).map((length) => '\u0000'.repeat(length)),
        fc.nat({ max: 60_000 }).map((length) => '\u{1f600}'.repeat(length)),
      ),
      aheadMs: fc.oneof(fc.nat({ max: 5 }), fc.integer({ min: -90_000_000, max: 90_000_000 })),
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const queue = createLogQueue();
        let atMs = 1_000_000_000_000;
        for (const { text, aheadMs } of lines) queue.add({ task: 1, attempt: 2 }, 'stdout', text, (atMs += aheadMs));
        const taken: { n: number; x: string; k: number; a: number; s: string }[] = [];
        while (!queue.isEmpty()) {
          const batch = queue.batch();
          const times = batch.map(({ timestamp }) => timestamp);
          const bytes = batch.map(({ message }) => Buffer.byteLength(message) + batchBounds.perEvent);
          expect(batch.length).toBeGreaterThan(0);
          expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(batchBounds.bytes);
          expect(Math.max(...bytes)).toBeLessThanOrEqual(maxEventBytes + batchBounds.perEvent);
          expect(times).toEqual(times.toSorted((one, other) => one - other));
          expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(batchBounds.spanMs);
          taken.push(...batch.map(({ message }) => JSON.parse(message)));
          queue.drop(batch.length);
        }
        const ordered = taken.toSorted((one, other) => one.n - other.n);
        expect(ordered.map(({ n }) => n)).toEqual(taken.map((_, index) => index + 1));
        expect(ordered.map(({ x }) => x).join('')).toBe(lines.map(({ text }) => text).join(''));
        expect(ordered.every(({ k, a, s }) => k === 1 && a === 2 && s === 'stdout')).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('are at most ten thousand at a time, and bounded in memory: a line counts those left out, also at the end', () => {
    const queue = createLogQueue(1_000_000);
    for (let at = 0; at < 20_000; at += 1) queue.add({}, 'agent', `line ${at}`, at);
    expect(queue.batch().length).toBe(10_000);
    const lines = drained(queue);
    const kept = lines.filter(({ x }) => x.startsWith('line ')).length;
    expect(kept).toBeLessThan(20_000);
    const note = `${20_000 - kept} lines were left out here: more came than could be sent.`;
    // With the time of the last of them.
    expect(lines.slice(kept)).toEqual([{ x: note, atMs: 19_999 }]);
    queue.add({}, 'agent', 'after', 30_000);
    expect(drained(queue)).toEqual([{ x: 'after', atMs: 30_000 }]);
  });
});

/** All remaining lines of a queue, in order. */
function drained(queue: ReturnType<typeof createLogQueue>): { x: string; atMs: number }[] {
  const taken: { x: string; atMs: number }[] = [];
  while (!queue.isEmpty()) {
    const batch = queue.batch();
    taken.push(...batch.map(({ message, timestamp }) => ({ x: String(JSON.parse(message).x), atMs: timestamp })));
    queue.drop(batch.length);
  }
  return taken;
}

async function shipper(lingerMs = 20) {
  const { id, owner, endpoint } = await launch();
  const workspace = `ws${owner.cluster}`;
  const api = createLogsApi({
    endpoint: cloud.emulator.url,
    region: 'us-east-1',
    group: logGroupOf(workspace),
    stream: logStreamOf(owner.cluster, id),
    credentials: createRoleCredentials(createMetadata(endpoint)),
  });
  const query = { owner: { workspace, cluster: owner.cluster } };
  return {
    id,
    query,
    shipper: createLogShipper({ api, onTrouble: trouble, lingerMs, firstRetryMs: 5 }),
    lines: async () => {
      const found: LogLine[] = [];
      for await (const line of cloud.provider.logs(query)) found.push(line);
      return found;
    },
  };
}

describe('the shipper', () => {
  it('makes the group with its retention and the stream, and flushes at the end', async () => {
    const { id, shipper: sending, lines } = await shipper(60_000);
    sending.add({}, 'agent', ['hello']);
    sending.add({ task: 3, attempt: 1 }, 'stdout', ['one', 'two']);
    await sending.close(5_000);
    const read = await lines();
    expect(read.map(({ task, attempt, stream, text }) => [task, attempt, stream, text])).toEqual([
      [null, null, 'agent', 'hello'],
      [3, 1, 'stdout', 'one'],
      [3, 1, 'stdout', 'two'],
    ]);
    expect(read.every(({ instance }) => instance === id)).toBe(true);
    const { calls } = await cloud.emulator.counts();
    expect(calls['PutRetentionPolicy']).toBe(1);
  });

  it('goes on after throttling, lost answers and refused credentials', async () => {
    const { shipper: sending, lines } = await shipper();
    const error = (code: string, nth: number, times: number) =>
      ({ op: 'fault', fault: { action: 'PutLogEvents', kind: 'error', code, nth, times } }) as const;
    await cloud.emulator.send(error('ThrottlingException', 1, 3));
    await cloud.emulator.send(error('ExpiredTokenException', 5, 1));
    await cloud.emulator.send({ op: 'fault', fault: { action: 'PutLogEvents', kind: 'lost', nth: 7, times: 2 } });
    const expected: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const fresh = Array.from({ length: 50 }, (_, at) => `${round}.${at}`);
      expected.push(...fresh);
      sending.add({ task: 0, attempt: 1 }, 'stdout', fresh);
      const last = fresh.at(-1);
      await eventually(async () => (await lines()).some(({ text }) => text === last));
    }
    await sending.close(10_000);
    const { injected } = await cloud.emulator.counts();
    expect(injected).toMatchObject({
      'PutLogEvents error ThrottlingException': 3,
      'PutLogEvents error ExpiredTokenException': 1,
      'PutLogEvents lost': 2,
    });
    expect((await lines()).filter(({ stream }) => stream === 'stdout').map(({ text }) => text)).toEqual(expected);
    expect(seen.join('\n')).toMatch(/trying on: PutLogEvents: ThrottlingException[\s\S]*Logs are sent again/);
  });

  it('reports refused lines once, and does not report its own report', async () => {
    const refused = { kind: 'refused', text: 'PutLogEvents: ValidationException' } as const;
    const troubles: string[] = [];
    let puts = 0;
    const api = {
      put: () => Promise.resolve(((puts += 1), refused)),
      create: () => Promise.resolve({ kind: 'taken' } as const),
    };
    // As in an agent: its own lines are sent too.
    const onTrouble = (text: string): void => {
      troubles.push(text);
      sending.add({}, 'agent', [text]);
    };
    const sending = createLogShipper({ api, onTrouble, lingerMs: 1, firstRetryMs: 5 });
    sending.add({}, 'stdout', ['one', 'two']);
    await sending.close(300);
    expect(troubles).toEqual(['2 lines could not be sent: PutLogEvents: ValidationException']);
    expect(puts).toBe(2);
  });

  it('gives up in time when CloudWatch does not answer', async () => {
    const away = { kind: 'again', text: 'no answer' } as const;
    const api = { put: () => Promise.resolve(away), create: () => Promise.resolve(away) };
    const sending = createLogShipper({ api, onTrouble: trouble, lingerMs: 1, firstRetryMs: 5 });
    sending.add({}, 'agent', ['lost']);
    await sending.close(50);
    expect(seen.at(-1)).toContain('no answer');
  });
});

describe('following', () => {
  it('yields each line once, also one that comes late and one that was sent twice', async () => {
    const { id, query, shipper: sending } = await shipper();
    const logs = new CloudWatchLogsClient({ region: 'us-east-1' });
    const leaving = new AbortController();
    const read: string[] = [];
    const reading = (async () => {
      const times = { pollMs: 20, lookBackMs: 100, farBackMs: 60_000, farEvery: 3 };
      const lines = readCloudLogs({ logs }, { ...query, follow: true, signal: leaving.signal }, times);
      for await (const { text } of lines) read.push(text);
    })();
    sending.add({}, 'stdout', ['first']);
    await eventually(() => read.length === 1);
    const put = (n: number, x: string, agoMs: number) =>
      logs.send(
        new PutLogEventsCommand({
          logGroupName: logGroupOf(query.owner.workspace),
          logStreamName: logStreamOf(query.owner.cluster, id),
          logEvents: [{ timestamp: Date.now() - agoMs, message: JSON.stringify({ n, s: 'stdout', x }) }],
        }),
      );
    const at = Date.now();
    await put(100, 'late', 30_000);
    await put(101, 'now', 0);
    await put(100, 'late', 30_000 + Date.now() - at);
    await eventually(() => read.length === 3);
    await put(102, 'last', 0);
    await eventually(() => read.includes('last'));
    leaving.abort();
    await reading;
    expect(read.toSorted()).toEqual(['first', 'last', 'late', 'now']);
    await sending.close(1_000);
  });
});
