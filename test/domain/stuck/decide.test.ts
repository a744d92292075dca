// Only a workflow that the known fault stopped is reset, and only if the code that wrote the history is the code that cannot replay it.
import { describe, expect, it } from 'vitest';

import { decideStuck, rememberReset } from '../../../domain/stuck/decide.ts';
import { maxResetsADay, slowAttempts, stuckAttempts } from '../../../domain/stuck/limits.ts';
import type { StuckObservation } from '../../../domain/stuck/state.ts';

const message =
  '[TMPRL1100] Nondeterminism error: Update machine does not handle this event: HistoryEvent(id: 89, TimerStarted)';
const failure = { cause: 'NON_DETERMINISTIC_ERROR', message, buildId: 'today' };
const writer = { completedEventId: 88, buildId: 'today', hasUpdate: true, isRepeated: false };
const stuck: StuckObservation = { workflowId: 'job/18', runId: 'r', attempt: stuckAttempts, failure, writer };
const other = message.replace(/Update .*/, "Activity type of scheduled event 'a' does not match 'b'");
const day = 24 * 60 * 60_000;
const nowMs = 10 * day;

describe('the decision to reset', () => {
  it('is taken for the known fault', () => {
    expect(decideStuck(stuck, [], nowMs)).toEqual({
      do: 'reset',
      toEventId: 88,
      text: expect.stringContaining(message),
    });
  });

  it.each<[string, StuckObservation]>([
    ['waits for a worker', { ...stuck, failure: null, writer: null }],
    ['only lacks time', { ...stuck, attempt: slowAttempts - 1, failure: null, writer: null }],
    ['has failed only twice', { ...stuck, attempt: stuckAttempts - 1 }],
    [
      'has failed only twice by an error of its own',
      { ...stuck, attempt: stuckAttempts - 1, failure: { ...failure, cause: 'cause 23' } },
    ],
  ])('is nothing for one that %s', (_, found) => {
    expect(decideStuck(found, [], nowMs)).toEqual({ do: 'nothing' });
  });

  it.each<[string, StuckObservation]>([
    ['a time that was another', { ...stuck, writer: { ...writer, hasUpdate: false, isRepeated: true } }],
    [
      'a command that is not given again',
      {
        ...stuck,
        failure: { ...failure, message: message.replace(/Update .*event:/, 'No command scheduled for event') },
      },
    ],
    [
      'another command',
      { ...stuck, failure: { ...failure, message: message.replace('Update', 'Signal external WF') } },
    ],
    ['another activity, which names no event', { ...stuck, failure: { ...failure, message: other } }],
  ])('is taken for the known fault in the shape of %s', (_, found) => {
    expect(decideStuck(found, [], nowMs)).toMatchObject({ do: 'reset', toEventId: 88 });
  });

  it.each<[string, StuckObservation, string]>([
    [
      'another nondeterminism',
      { ...stuck, failure: { ...failure, message: 'no such workflow' } },
      'does not follow its',
    ],
    [
      'a message that only quotes it',
      { ...stuck, failure: { ...failure, message: `said: ${message}` } },
      'does not follow',
    ],
    [
      'a task that workers never completed',
      { ...stuck, attempt: slowAttempts, failure: null, writer: null },
      'is at attempt 10 without a failure',
    ],
    ['other code than wrote it', { ...stuck, writer: { ...writer, buildId: 'yesterday' } }, 'other code wrote'],
    [
      'code without a name',
      { ...stuck, failure: { ...failure, buildId: '' }, writer: { ...writer, buildId: '' } },
      'other code',
    ],
    [
      'a task that wrote no update, at once',
      { ...stuck, writer: { ...writer, hasUpdate: false } },
      'neither an update',
    ],
    ['a history without that event', { ...stuck, writer: null }, 'is unknown'],
    [
      'an error that time does not mend',
      { ...stuck, failure: { ...failure, cause: 'cause 36', message: 'payloads too large' }, writer: null },
      'cause 36): payloads too large',
    ],
    [
      'an error of its own that quotes the fault',
      { ...stuck, failure: { ...failure, cause: 'cause 23' } },
      'fails for another reason',
    ],
  ])('is left to an operator for %s', (_, found, says) => {
    expect(decideStuck(found, [], nowMs)).toEqual({ do: 'report', text: expect.stringContaining(says) });
  });

  it('is taken only so often a day for one workflow', () => {
    let resets = rememberReset([], 'job/19', nowMs);
    for (let nth = 0; nth < maxResetsADay; nth += 1) {
      expect(decideStuck(stuck, resets, nowMs).do).toBe('reset');
      resets = rememberReset(resets, stuck.workflowId, nowMs);
    }
    expect(decideStuck(stuck, resets, nowMs)).toMatchObject({
      do: 'report',
      text: expect.stringContaining('was reset'),
    });
    expect(decideStuck(stuck, resets, nowMs + day).do).toBe('reset');
    expect(rememberReset(resets, 'job/20', nowMs + day)).toEqual([{ workflowId: 'job/20', atMs: nowMs + day }]);
  });
});
