// What is read from a recorded history: a job that stood still after its worker was killed (found by the kill matrix).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';

import { failureIn, readStandstill } from '../../activities/standstill.ts';
import { decideHeal } from '../../domain/heal/decide.ts';

const read = (name: string) =>
  proto.temporal.api.history.v1.History.decode(readFileSync(join(import.meta.dirname, name)));
const recorded = read('stood-still.bin');
const pending = { workflowId: 'job/18', runId: 'r', attempt: 9 };

describe('the history of a job that stood still', () => {
  it('names the workflow task to go back to', () => {
    const { failure, writer } = failureIn(recorded.events);
    expect(writer).toMatchObject({ completedEventId: 88, buildId: failure?.buildId, hasUpdate: true });
    expect(decideHeal({ ...pending, failure, writer }, [], 1)).toMatchObject({ do: 'reset', toEventId: 88 });
  });

  it('says nothing before it failed, nor after a workflow task was completed again', () => {
    const before = recorded.events.filter(({ eventId }) => Number(eventId) < 132);
    expect(failureIn(before)).toEqual({ failure: null, writer: null });
    const completed = recorded.events.find((event) => event.workflowTaskCompletedEventAttributes);
    expect(failureIn([...recorded.events, ...(completed === undefined ? [] : [completed])]).failure).toBeNull();
  });
});

describe('the history of a job whose task ran out of time, and was decided at two times', () => {
  const history = read('stood-still-by-time.bin');
  const at = { workflowId: 'job/4', runId: 'r', attempt: 8 };
  const buildId = history.events[3]?.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? '';
  const message =
    '[TMPRL1100] Nondeterminism error: Signal external WF machine does not handle this event: HistoryEvent(id: 36, TimerStarted)';
  const replayer = (said: string | null) => ({ buildId: () => buildId, violation: () => Promise.resolve(said) });

  it('says nothing itself, but a replay does, and names the workflow task to go back to', async () => {
    expect(failureIn(history.events).failure).toBeNull();
    const found = await readStandstill(history, replayer(message), at);
    expect(found.writer).toEqual({ completedEventId: 35, buildId, hasUpdate: true, isRepeated: true });
    expect(decideHeal(found, [], 1)).toMatchObject({ do: 'reset', toEventId: 35 });
  });

  it('is left alone when the code follows it: it only has no time', async () => {
    expect(decideHeal(await readStandstill(history, replayer(null), at), [], 1)).toEqual({ do: 'nothing' });
  });
});
