// What is read from a recorded history: a job that stood still after its worker was killed (found by the kill matrix).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';

import { failureIn } from '../../activities/standstill.ts';
import { decideHeal } from '../../domain/heal/decide.ts';

const recorded = proto.temporal.api.history.v1.History.decode(
  readFileSync(join(import.meta.dirname, 'stood-still.bin')),
);
const pending = { workflowId: 'job/18', runId: 'r', attempt: 9 };

describe('the history of a job that stood still', () => {
  it('names the workflow task to go back to', () => {
    const { failure, writer } = failureIn(recorded.events);
    expect(writer).toEqual({ completedEventId: 88, buildId: failure?.buildId, hasUpdate: true });
    expect(decideHeal({ ...pending, failure, writer }, [], 1)).toMatchObject({ do: 'reset', toEventId: 88 });
  });

  it('says nothing before it failed, nor after a workflow task was completed again', () => {
    const before = recorded.events.filter(({ eventId }) => Number(eventId) < 132);
    expect(failureIn(before)).toEqual({ failure: null, writer: null });
    const completed = recorded.events.find((event) => event.workflowTaskCompletedEventAttributes);
    expect(failureIn([...recorded.events, ...(completed === undefined ? [] : [completed])]).failure).toBeNull();
  });
});
