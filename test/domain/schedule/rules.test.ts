// Cron fields, time zones, and runs that overlap.
import { expect, it } from 'vitest';

import { checkCron, checkTimezone, decideRun } from '../../../domain/schedule/rules.ts';

it.each([
  ['0 3 * * *', '0 3 * * *'],
  ['  */15 0-6,22 1,15 JAN-mar mon-FRI ', '*/15 0-6,22 1,15 jan-mar mon-fri'],
  ['@daily', '@daily'],
  ['0 0 31 12 7', '0 0 31 12 7'],
])('%s is a cron expression', (cron, canonical) => {
  expect(checkCron(cron)).toBe(canonical);
});

it.each([
  ['60 * * * *', '"60" is no minute'],
  ['* 24 * * *', 'no hour'],
  ['* * 0 * *', 'no day of the month'],
  ['* * * 13 *', 'no month'],
  ['* * * * 8', 'no day of the week'],
  ['5-1 * * * *', 'no minute'],
  ['*/0 * * * *', 'no minute'],
  ['1-2-3 * * * *', 'no minute'],
  ['* * * *', 'five fields'],
  ['@reboot', 'five fields'],
  ['* * * * * *', 'five fields'],
])('%s is none', (cron, text) => {
  expect(() => checkCron(cron)).toThrow(text);
});

it('time zones are those of IANA', () => {
  expect(checkTimezone('Europe/Berlin')).toBe('Europe/Berlin');
  expect(() => checkTimezone('Mars/Olympus')).toThrow('timezone: "Mars/Olympus" is no time zone');
});

it('an open job of an earlier run is what the overlap is about', () => {
  const submit = { kind: 'submit', after: null, cancel: null };
  expect(decideRun('skip', null)).toEqual(submit);
  expect(decideRun('allow', 3)).toEqual(submit);
  expect(decideRun('skip', 3)).toEqual({ kind: 'skip', text: 'Job 3 of an earlier run has not ended.' });
  expect(decideRun('queue', 3)).toEqual({ ...submit, after: 3 });
  expect(decideRun('cancel', 3)).toEqual({ ...submit, after: 3, cancel: 3 });
});
