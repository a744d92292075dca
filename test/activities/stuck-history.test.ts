// The analysis of recorded histories of workflows that were stuck after their worker was killed (found by the kill matrix).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';

import { readStuckHistory } from '../../activities/stuck-history.ts';
import { decideStuck } from '../../domain/stuck/decide.ts';

const read = (name: string) =>
  proto.temporal.api.history.v1.History.decode(readFileSync(join(import.meta.dirname, name)));
const recorded = read('stuck.bin');
const pending = { workflowId: 'job/18', runId: 'r', attempt: 9 };

describe('the history of a stuck job', () => {
  const follows = { buildId: () => 'today', violation: () => Promise.resolve(null) };

  it('names the workflow task to go back to', async () => {
    const found = await readStuckHistory(recorded, follows, pending);
    expect(found.writer).toMatchObject({ completedEventId: 88, buildId: found.failure?.buildId, hasUpdate: true });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'reset', toEventId: 88 });
  });

  it('says nothing before it failed, nor after a workflow task was completed again', async () => {
    const { events } = recorded;
    const completed = events.filter((event) => event.workflowTaskCompletedEventAttributes).slice(0, 1);
    for (const each of [events.filter(({ eventId }) => Number(eventId) < 132), [...events, ...completed]]) {
      const found = await readStuckHistory({ events: each }, follows, pending);
      expect([found.failure, found.writer]).toEqual([null, null]);
    }
  });
});

describe('the history of a job whose task ran out of time, and was decided at two times', () => {
  const history = read('stuck-by-time.bin');
  const at = { workflowId: 'job/4', runId: 'r', attempt: 8 };
  const buildId = history.events[3]?.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? '';
  const message =
    '[TMPRL1100] Nondeterminism error: Signal external WF machine does not handle this event: HistoryEvent(id: 36, TimerStarted)';
  const replayer = (said: string | null) => ({ buildId: () => buildId, violation: () => Promise.resolve(said) });

  it('says nothing itself, but a replay does, and names the workflow task to go back to', async () => {
    expect((await readStuckHistory(history, replayer(null), at)).failure).toBeNull();
    const found = await readStuckHistory(history, replayer(message), at);
    expect(found.writer).toEqual({ completedEventId: 35, buildId, hasUpdate: true, isRepeated: true });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'reset', toEventId: 35 });
  });

  it('is left alone when the code follows it: it only has no time', async () => {
    expect(decideStuck(await readStuckHistory(history, replayer(null), at), [], 1)).toEqual({ do: 'nothing' });
  });
});

describe('the history of a workflow whose task was scheduled again for another worker', () => {
  const buildOf = (history: ReturnType<typeof read>): string =>
    history.events[3]?.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? '';

  it('names the workflow task to go back to, which saw an earlier time', async () => {
    const history = read('stuck-after-a-wait.bin');
    const replayer = { buildId: () => buildOf(history), violation: () => Promise.reject(new Error('is not needed')) };
    const found = await readStuckHistory(history, replayer, { workflowId: 'job/38', runId: 'r', attempt: 8 });
    expect(found.failure?.message).toContain('HistoryEvent(id: 40, TimerStarted)');
    expect(found.writer).toMatchObject({ completedEventId: 39, hasUpdate: false, isRepeated: true });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'reset', toEventId: 39 });
  });

  it('is searched where the failure names no event, by replaying its beginnings', async () => {
    const history = read('stuck-by-two-signals.bin');
    const replayed: number[] = [];
    // As the real code does: it replays every history that ends at or before the beginning of the 58th event's task, and no longer one.
    const violation = ({ events = [] }: { events?: unknown[] | null }): Promise<string | null> => {
      replayed.push(events?.length ?? 0);
      return Promise.resolve((events?.length ?? 0) <= 58 ? null : 'no');
    };
    const replayer = { buildId: () => buildOf(history), violation };
    const found = await readStuckHistory(history, replayer, { workflowId: 'cluster/39', runId: 'r', attempt: 8 });
    expect(found.failure?.message).toContain("Activity type of scheduled event 'inspectInstances' does not match");
    expect(found.writer).toEqual({
      completedEventId: 59,
      buildId: buildOf(history),
      hasUpdate: false,
      isRepeated: true,
    });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'reset', toEventId: 59 });
    expect(replayed.length).toBeLessThanOrEqual(6);
    expect(replayed.every((length) => history.events[length - 1]?.workflowTaskStartedEventAttributes)).toBe(true);
  });

  it('is not searched by code that has written nothing of it', async () => {
    const history = read('stuck-by-two-signals.bin');
    for (const event of history.events) {
      const { workerVersion } = event.workflowTaskCompletedEventAttributes ?? {};
      if (workerVersion) workerVersion.buildId = 'yesterday';
    }
    const replayer = { buildId: () => 'today', violation: () => Promise.reject(new Error('is not needed')) };
    const found = await readStuckHistory(history, replayer, { workflowId: 'cluster/39', runId: 'r', attempt: 8 });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'report' });
  });

  it('is left to an operator when this code follows it', async () => {
    const history = read('stuck-by-two-signals.bin');
    const replayer = { buildId: () => buildOf(history), violation: () => Promise.resolve(null) };
    const found = await readStuckHistory(history, replayer, { workflowId: 'cluster/39', runId: 'r', attempt: 8 });
    expect(decideStuck(found, [], 1)).toMatchObject({ do: 'report', text: expect.stringContaining('is unknown') });
  });
});
