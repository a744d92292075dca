import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createGroupCommit, type FlushOutcome, type Submitted } from '../../services/group-commit/group-commit.ts';
import { createGroupCommits } from '../../services/group-commit/registry.ts';
import { updateDeadlineMs } from '../../domain/workflow-limits.ts';
import {
  maxFlushBytes,
  maxFlushItems,
  maxFlushQueue,
  maxFlushWindowMs,
  minFlushWindowMs,
} from '../../services/group-commit/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Flushing {
  items: string[];
  answer(outcome: FlushOutcome<string>): Promise<void>;
  echo(): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A flush function driven by hand: each call waits until the test answers it. */
function handDriven() {
  const flushes: Flushing[] = [];
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const flush = (items: string[]) =>
    new Promise<FlushOutcome<string>>((resolve, reject) => {
      flushes.push({
        items,
        answer: (outcome) => (resolve(outcome), settle().then(() => undefined)),
        echo: () => (resolve(echoOf(items)), settle().then(() => undefined)),
        fail: (error) => (reject(error), settle().then(() => undefined)),
      });
    });
  return { flush, flushes };
}
const echoOf = (items: string[]): FlushOutcome<string> => ({
  kind: 'answers',
  items: items.map((item) => ({ ok: `answer to ${item}` })),
});
const answered = (item: string): Submitted<string> => ({ kind: 'answer', value: `answer to ${item}` });

describe('group commit', () => {
  it('merges what arrives within the window, and gives each its own answer', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    const first = group.submit('a');
    await vi.advanceTimersByTimeAsync(minFlushWindowMs - 1);
    const second = group.submit('b');
    expect(flushes).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(flushes.map(({ items }) => items)).toEqual([['a', 'b']]);
    await flushes[0]?.echo();
    expect(await Promise.all([first, second])).toEqual([answered('a'), answered('b')]);
    expect(group.isIdle()).toBe(true);
  });

  it('has at most one flush in flight; what comes meanwhile goes together right after', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    void group.submit('a');
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    const later = [group.submit('b'), group.submit('c')];
    await vi.advanceTimersByTimeAsync(5_000);
    expect(flushes).toHaveLength(1);
    await flushes[0]?.echo();
    expect(flushes[1]?.items).toEqual(['b', 'c']);
    await flushes[1]?.echo();
    expect(await Promise.all(later)).toEqual([answered('b'), answered('c')]);
  });

  it('grows its window with the task time, between its bounds', async () => {
    for (const [taskMs, windowMs] of [
      [0, minFlushWindowMs],
      [10_000, 100],
      [3_600_000, maxFlushWindowMs],
    ] as const) {
      const { flush, flushes } = handDriven();
      const group = createGroupCommit({ flush });
      void group.submit('a', { taskMs });
      await vi.advanceTimersByTimeAsync(windowMs - 1);
      expect(flushes).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(flushes).toHaveLength(1);
    }
  });

  it('lets an item wait up to its `patienceMs`, unless an earlier flush takes it along', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    void group.submit('patient', { patienceMs: 150 });
    await vi.advanceTimersByTimeAsync(149);
    expect(flushes).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await flushes[0]?.echo();
    void group.submit('patient too', { patienceMs: 150 });
    await vi.advanceTimersByTimeAsync(50);
    void group.submit('hurried');
    await vi.advanceTimersByTimeAsync(minFlushWindowMs - 1);
    expect(flushes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(flushes.map(({ items }) => items)).toEqual([['patient'], ['patient too', 'hurried']]);
    void group.submit('came meanwhile', { patienceMs: 100 });
    await flushes[1]?.echo();
    await vi.advanceTimersByTimeAsync(99);
    expect(flushes).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(flushes[2]?.items).toEqual(['came meanwhile']);
  });

  it('flushes at once when it is full, and never sends more than fits', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    for (let n = 0; n < maxFlushItems + 1; n += 1) void group.submit(`i${n}`);
    expect(flushes[0]?.items).toHaveLength(maxFlushItems);
    await flushes[0]?.echo();
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    expect(flushes[1]?.items).toEqual([`i${maxFlushItems}`]);
  });

  it('counts the bytes that answers may need', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush, answerBytes: () => maxFlushBytes / 2 });
    for (const item of ['a', 'b', 'c']) void group.submit(item);
    expect(flushes[0]?.items).toEqual(['a', 'b']);
  });

  it('refuses one item that is too large, counting bytes and not characters', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    const wide = 'ä'.repeat(maxFlushBytes / 2);
    await expect(group.submit(wide)).rejects.toMatchObject({ problem: { code: 'TOO_LARGE' } });
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    expect(flushes).toHaveLength(0);
  });

  it('answers TOO_BUSY beyond its queue, and to those who waited too long', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    void group.submit('first');
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    const queued = Array.from({ length: maxFlushQueue }, (_, n) => group.submit(`q${n}`));
    await expect(group.submit('one too many')).rejects.toMatchObject({
      problem: { code: 'TOO_BUSY' },
      retryAfterMs: 1_000,
    });
    const outcomes = Promise.allSettled(queued);
    await vi.advanceTimersByTimeAsync(updateDeadlineMs);
    await flushes[0]?.echo();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { problem: { code: 'TOO_BUSY' } } });
    }
    expect(flushes).toHaveLength(1);
    expect(group.isIdle()).toBe(true);
  });

  it('passes on an item that is refused, a workflow that is closed, and a flush that fails', async () => {
    const { flush, flushes } = handDriven();
    const group = createGroupCommit({ flush });
    const problem = { code: 'NAME_TAKEN', message: 'taken' } as const;
    const pair = [group.submit('a'), group.submit('b')];
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    await flushes[0]?.answer({ kind: 'answers', items: [{ error: problem }, { ok: 'fine' }] });
    expect(await Promise.all(pair)).toEqual([
      { kind: 'refused', problem },
      { kind: 'answer', value: 'fine' },
    ]);
    const closed = group.submit('c');
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    await flushes[1]?.answer({ kind: 'closed' });
    expect(await closed).toEqual({ kind: 'closed' });
    const failed = group.submit('d').catch(String);
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    await flushes[2]?.fail(new Error('away'));
    expect(await failed).toBe('Error: away');
    const short = group.submit('e').catch(String);
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    await flushes[3]?.answer({ kind: 'answers', items: [] });
    expect(await short).toContain('1 items got 0 answers');
  });

  it('gives every item exactly its own answer, one flush at a time, within the limits, whatever happens', async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 60 }),
      items: fc.integer({ min: 0, max: 300 }),
      bytes: fc.constantFrom(1, 10, 2_000, 30_000),
      taskMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }),
      patienceMs: fc.constantFrom(0, 0, 150),
    });
    const flushMs = fc.infiniteStream(fc.integer({ min: 0, max: 400 }));
    const fails = fc.infiniteStream(fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), flushMs, fails, async (steps, delays, failures) => {
        let running = 0;
        const flush = async (items: string[]): Promise<FlushOutcome<string>> => {
          running += 1;
          expect(running).toBe(1);
          expect(items.length).toBeGreaterThan(0);
          expect(items.length).toBeLessThanOrEqual(maxFlushItems);
          expect(items.reduce((sum, item) => sum + JSON.stringify(item).length, 0)).toBeLessThanOrEqual(maxFlushBytes);
          await new Promise((resolve) => setTimeout(resolve, delays.next().value));
          running -= 1;
          if (failures.next().value) throw new Error('lost');
          return echoOf(items);
        };
        const group = createGroupCommit({ flush });
        const all: { item: string; outcome: Promise<Submitted<string> | string> }[] = [];
        for (const [index, { waitMs, items, bytes, taskMs, patienceMs }] of steps.entries()) {
          for (let n = 0; n < items; n += 1) {
            const item = `${index}/${n}`.padEnd(bytes, '.');
            const options = { patienceMs, ...(taskMs === undefined ? {} : { taskMs }) };
            all.push({ item, outcome: group.submit(item, options).catch((error: unknown) => String(error)) });
          }
          await vi.advanceTimersByTimeAsync(waitMs);
        }
        await vi.advanceTimersByTimeAsync(120_000);
        for (const { item, outcome } of all) {
          const ended = await outcome;
          if (typeof ended === 'string') expect(ended).toMatch(/lost|RopewalkError: More requests wait/);
          else expect(ended).toEqual(answered(item));
        }
        expect(group.isIdle()).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the registry of group commits', () => {
  it('keeps workflows apart, and drops the idle ones', async () => {
    const seen: [string, string[]][] = [];
    const commits = createGroupCommits<string, string>({
      flush: async (workflowId, items) => (seen.push([workflowId, items]), echoOf(items)),
    });
    const both = Promise.all([commits.submit('job/1', 'a'), commits.submit('job/2', 'b')]);
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    expect(await both).toEqual([answered('a'), answered('b')]);
    expect(seen).toEqual([
      ['job/1', ['a']],
      ['job/2', ['b']],
    ]);
    expect(commits.size()).toBe(2);
    await vi.advanceTimersByTimeAsync(61_000);
    const third = commits.submit('job/3', 'c');
    expect(commits.size()).toBe(1);
    await vi.advanceTimersByTimeAsync(minFlushWindowMs);
    await third;
  });
});
