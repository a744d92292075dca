// The memory budget for large bodies: how much is received at a time, which requests wait and which are refused; and that the API
// keeps to it.
import { setImmediate } from 'node:timers/promises';

import { describe, expect, it, vi } from 'vitest';

import { createBodyMemory } from '../../services/body-memory.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { bodyMemoryBytes, maxBodyBytes } from '../../domain/requests/limits.ts';
import { memoryObjects } from '../platform/support.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi } from './support.ts';

const codeOf = (entering: Promise<unknown>): Promise<unknown> =>
  entering.then(
    () => 'entered',
    (error: unknown) => (error instanceof RopewalkError ? error.problem.code : error),
  );

describe('the memory budget for request bodies', () => {
  const room = (waitMs = 60_000) =>
    createBodyMemory({ totalBytes: 10, workspaceBytes: 6, callerBytes: 5, maxWaiting: 5, waitMs });
  const of = (workspace: string, caller = 'one') => ({ workspace, id: `${workspace} ${caller}` });

  it('is given in order, to each caller at most a share, and never to more requests than fit', async () => {
    const made = room();
    const entered: string[] = [];
    const ask = async (who: string, bytes: number): Promise<() => void> => {
      const leave = await made.enter(of(who), bytes);
      entered.push(`${who} ${bytes}`);
      return leave;
    };
    const first = await ask('ada', 5);
    const second = ask('ada', 2);
    const third = ask('bob', 4);
    await third;
    expect(entered).toEqual(['ada 5', 'bob 4']);
    const fourth = ask('eve', 3);
    const fifth = ask('eve', 1);
    await Promise.resolve();
    // One byte is free, but eve's three requests come first.
    expect(entered).toHaveLength(2);
    first();
    await Promise.all([second, fourth, fifth]);
    expect(entered).toEqual(['ada 5', 'bob 4', 'ada 2', 'eve 3', 'eve 1']);
  });

  it('admits a body that is larger than all of it when no other is there, and releases memory once', async () => {
    const made = room();
    const leave = await made.enter(of('ada'), 50);
    const other = made.enter(of('bob'), 1);
    leave();
    leave();
    const last = await other;
    last();
    // The whole budget is free only if the first released its memory exactly once and the second released it.
    expect(await made.enter(of('ada'), 10)).toBeTypeOf('function');
  });

  it('is shared by the callers of a workspace, each of whom has a share of that', async () => {
    const made = room();
    await made.enter(of('ada', 'one'), 3);
    expect(await made.enter(of('ada', 'two'), 3)).toBeTypeOf('function');
    const third = codeOf(made.enter(of('ada', 'three'), 1, AbortSignal.timeout(20)));
    expect(await made.enter(of('bob', 'one'), 4)).toBeTypeOf('function');
    expect(await third).toBe('TOO_BUSY');
    const other = room();
    await other.enter(of('ada', 'one'), 3);
    const own = codeOf(other.enter(of('ada', 'one'), 3, AbortSignal.timeout(20)));
    expect(await other.enter(of('ada', 'two'), 3)).toBeTypeOf('function');
    expect(await own).toBe('TOO_BUSY');
  });

  it('has a queue of bounded length for each workspace', async () => {
    const made = room();
    await made.enter(of('ada'), 6);
    const waiting = Array.from({ length: 6 }, () => codeOf(made.enter(of('ada'), 1, AbortSignal.timeout(1_000))));
    expect(await Promise.race(waiting)).toBe('TOO_BUSY');
    expect(await made.enter(of('bob'), 1)).toBeTypeOf('function');
    expect(await Promise.all(waiting)).toHaveLength(6);
  });

  it('refuses requests that waited too long or were aborted, and admits those behind them', async () => {
    vi.useFakeTimers();
    try {
      const made = room(1_000);
      const leave = await made.enter(of('ada'), 6);
      const gone = new AbortController();
      const large = codeOf(made.enter(of('bob'), 9, gone.signal));
      const small = made.enter(of('eve'), 4);
      gone.abort();
      expect(await large).toBe('TOO_BUSY');
      await small;
      const late = codeOf(made.enter(of('bob'), 1));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await late).toBe('TOO_BUSY');
      expect(await codeOf(made.enter(of('bob'), 1, AbortSignal.abort()))).toBe('TOO_BUSY');
      leave();
      await made.enter(of('bob'), 6);
    } finally {
      vi.useRealTimers();
    }
  });
});

it('is kept by the API: of eight jobs of the greatest size four are received at a time, two of a workspace, one of a user', async () => {
  const objects = memoryObjects();
  const uploads: (() => void)[] = [];
  let isHeld = true;
  // A slow store keeps the bytes of a job in memory for that long.
  const slow: typeof objects = {
    ...objects,
    put: async (...input) => {
      if (isHeld) await new Promise<void>((open) => uploads.push(open));
      return objects.put(...input);
    },
  };
  const api = await createTestApi({ objects: slow });
  const colleague = await api.addToken('default', ['read', 'write'], 'bob', 'member');
  const others = [await api.addToken('other'), await api.addToken('third')];
  // The announced length counts.
  const headers = { 'content-length': String(maxBodyBytes) };
  const send = (token?: string) =>
    api.call('POST', '/v1/jobs', { body: { command: ['true'] }, headers, ...(token === undefined ? {} : { token }) });
  const mine = Array.from({ length: 3 }, () => send());
  await eventually(() => uploads.length === 1);
  await setImmediate();
  expect(uploads).toHaveLength(1);
  mine.push(send(colleague));
  await eventually(() => uploads.length === 2);
  await setImmediate();
  expect(uploads).toHaveLength(2);
  const theirs = others.flatMap((token) => [send(token), send(token)]);
  const most = bodyMemoryBytes / maxBodyBytes;
  await eventually(() => uploads.length === most);
  await setImmediate();
  expect([most, uploads.length]).toEqual([4, 4]);
  // A request without a body does not wait, although this workspace's budget and the total are used up.
  expect((await api.call('POST', '/v1/jobs/9/cancel')).status).toBe(404);
  isHeld = false;
  for (const open of uploads) open();
  const statuses = (await Promise.all([...mine, ...theirs])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201]));
});
