// The loop that carries out an agent's decisions, against a scripted API and tasks that end when the test ends them.
import { afterEach, expect, it, vi } from 'vitest';

import type { Session } from '../../agent/api-client/session.ts';
import { exchangeLoop } from '../../agent/job/exchange-loop.ts';
import type { ExchangeLoopInput } from '../../agent/job/exchange-loop.ts';
import { createLeave } from '../../agent/job/interruption.ts';
import type { TaskEnd } from '../../agent/job/run-task.ts';
import { exchangeRequest } from '../../schema/agent.ts';
import type { ExchangeAnswerBody, ExchangeRequest } from '../../schema/agent.ts';
import { eventually } from '../support/eventually.ts';
import { asBytes } from './as-bytes.ts';
import { answerWith, grant } from './exchanges.ts';

afterEach(() => void vi.useRealTimers());

interface Task {
  lease: number;
  wasEnded: boolean;
  finish: (end?: TaskEnd) => void;
}

const done: TaskEnd = { kind: 'ended', exitCode: 0, signal: null, startedAtMs: 1, endedAtMs: 2, reason: null };

/** `answers`: called with each request in turn; an undefined answer is an empty one. */
function startLoop(
  answer: (request: ExchangeRequest, at: number) => Partial<ExchangeAnswerBody> | undefined,
  results: Partial<ExchangeLoopInput['results']> = {},
) {
  const requests: ExchangeRequest[] = [];
  const tasks: Task[] = [];
  const logged: string[] = [];
  const stopping = new AbortController();
  const session: Pick<Session, 'call' | 'renew'> = {
    renew: () => undefined,
    call: async ({ body, read }) => {
      if (stopping.signal.aborted) return null;
      const request = exchangeRequest.parse(body?.());
      requests.push(request);
      const acknowledged = request.results.map(({ lease }) => lease);
      const fields = { acknowledged, mayHold: 100, retryAfterMs: 50, ...answer(request, requests.length) };
      await new Promise((resolve) => setTimeout(resolve, 5));
      return read(asBytes(answerWith(fields)));
    },
  };
  const ended = exchangeLoop({
    session,
    start: ({ lease }, _context, begun) => {
      const { promise, resolve } = Promise.withResolvers<TaskEnd>();
      const task: Task = { lease, wasEnded: false, finish: (end = done) => resolve(end) };
      tasks.push(task);
      begun();
      return { ended: promise, end: () => void (task.wasEnded = true) };
    },
    results: { keep: async () => undefined, forget: async () => undefined, ...results },
    log: { write: (text) => void logged.push(text) },
    stopping,
    isHead: false,
    leave: createLeave(),
  });
  const task = (lease: number): Promise<Task> => eventually(() => tasks.find((each) => each.lease === lease));
  const stop = async (): Promise<void> => {
    stopping.abort({ code: 'TEST', text: 'the test ends', failed: false });
    for (const each of tasks) each.finish();
    await ended;
  };
  return { requests, tasks, logged, task, ended, stop, stopping };
}

it('ends no other task than the one whose lease has ended', async () => {
  const forgetting = Promise.withResolvers<void>();
  let isForgetting = false;
  const forget = async (leases: readonly number[]): Promise<void> => {
    if (leases.length === 0) return;
    isForgetting = true;
    await forgetting.promise;
  };
  const loop = startLoop(
    (request, at) => {
      if (at === 1) return { grants: [grant(1), grant(2), grant(3)] };
      return request.running.includes(2) && request.results.length > 0 ? { drop: [2] } : undefined;
    },
    { forget },
  );
  (await loop.task(1)).finish();
  const dropped = await loop.task(2);
  await eventually(() => isForgetting);
  // It ends by itself while the agent is busy, and the next one takes its turn.
  dropped.finish();
  const next = await loop.task(3);
  forgetting.resolve();
  const before = loop.requests.length;
  await eventually(() => loop.requests.length > before);
  expect(next.wasEnded).toBe(false);
  await loop.stop();
});

it('ends the task whose lease has ended, and reports no result of it', async () => {
  const loop = startLoop((request, at) => {
    if (at === 1) return { grants: [grant(1)] };
    return request.running.includes(1) ? { drop: [1] } : undefined;
  });
  const task = await loop.task(1);
  await eventually(() => task.wasEnded);
  task.finish();
  await eventually(() => loop.requests.at(-1)?.want === 1);
  expect(loop.requests.flatMap(({ results }) => results)).toEqual([]);
  await loop.stop();
});

it('renews its lease although the clock was set back by an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const loop = startLoop((_, at) => (at === 1 ? { grants: [grant(1)], renewWithinMs: 100 } : { renewWithinMs: 100 }));
  await loop.task(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  await eventually(() => loop.requests.filter(({ running }) => running.includes(1)).length >= 3, { timeoutMs: 20_000 });
  await loop.stop();
});

it('returns the task that this instance cannot prepare, takes no other, and says why', async () => {
  const loop = startLoop((request, at) => {
    if (at === 1) return { grants: [grant(1), grant(2)] };
    return request.want > 0 ? { grants: [grant(9)] } : undefined;
  });
  (await loop.task(1)).finish({ kind: 'unprepared', reason: 'ENOSPC: no space left' });
  expect(await loop.ended).toMatchObject({ code: 'INSTANCE_UNFIT', text: expect.stringContaining('no space left') });
  expect(loop.tasks.map(({ lease }) => lease)).toEqual([1]);
  expect(loop.requests.flatMap(({ results }) => results)).toEqual([]);
  expect(loop.requests.at(-1)).toMatchObject({ want: 0, running: [] });
  expect(loop.requests.flatMap(({ returned = [] }) => returned)).toEqual(expect.arrayContaining([1, 2]));
});

it('reports its results although the disk takes none, and then leaves', async () => {
  const keep = (): Promise<void> => Promise.reject(new Error('ENOSPC: no space left'));
  const loop = startLoop((_, at) => (at === 1 ? { grants: [grant(1)] } : undefined), { keep });
  (await loop.task(1)).finish();
  expect(await loop.ended).toMatchObject({ code: 'INSTANCE_UNFIT', text: expect.stringContaining('no space left') });
  expect(loop.requests.flatMap(({ results }) => results.map(({ lease }) => lease))).toEqual([1]);
  expect(loop.stopping.signal.aborted).toBe(false);
});

it('names a task that is being prepared as held, and as running once its command runs', async () => {
  const begun: (() => void)[] = [];
  const requests: ExchangeRequest[] = [];
  const stopping = new AbortController();
  const ended = Promise.withResolvers<TaskEnd>();
  const loop = exchangeLoop({
    session: {
      renew: () => undefined,
      call: async ({ body, read }) => {
        if (stopping.signal.aborted) return null;
        const request = exchangeRequest.parse(body?.());
        requests.push(request);
        const grants = requests.length === 1 ? [grant(1)] : [];
        return read(asBytes(answerWith({ grants, mayHold: 1, renewWithinMs: 50 })));
      },
    },
    start: (_grant, _context, onBegun) => (begun.push(onBegun), { ended: ended.promise, end: () => undefined }),
    results: { keep: async () => undefined, forget: async () => undefined },
    log: { write: () => undefined },
    stopping,
    isHead: false,
    leave: createLeave(),
  });
  await eventually(() => requests.length > 2);
  expect(requests.slice(1)).toEqual(requests.slice(1).map((request) => ({ ...request, running: [], held: [1] })));
  for (const each of begun) each();
  await eventually(() => requests.some(({ running }) => running.includes(1)));
  stopping.abort({ code: 'TEST', text: '', failed: false });
  ended.resolve(done);
  await loop;
});
