// The reason of a Dask process's end, from its output.
import { describe, expect, it } from 'vitest';

import { describeEnd, noClues, noteLine } from '../../agent/dask/exit-reason.ts';

describe('the reason of an end', () => {
  const end = (exitCode: number | null, signal: string | null, lines: string[], endedByUs = false) => {
    const clues = { ...noClues(), endedByUs };
    for (const line of lines) noteLine(clues, line);
    return describeEnd({ exitCode, signal, clues });
  };

  it('is what Dask logged, because its exit code is 0 for everything', () => {
    const idle = '2026-01-01 - distributed.scheduler - INFO - Closing scheduler. Reason: idle-timeout-exceeded';
    expect(end(0, null, [idle, 'x - distributed.scheduler - INFO - Scheduler closing all comms'])).toMatchObject({
      code: 'CLOSED',
      text: 'Dask closed it: idle-timeout-exceeded',
    });
    const worker = 'x - distributed.worker - INFO - Stopping worker at tls://1.2.3.4:5. Reason: scheduler-close';
    expect(end(0, null, [worker]).text).toBe('Dask closed it: scheduler-close');
  });

  it('distinguishes a failure from an end by order', () => {
    expect(end(1, null, ['Traceback', 'ModuleNotFoundError: No module named dask', ''])).toMatchObject({
      code: 'EXITED',
      text: 'it ended by itself with exit code 1. The last it said: ModuleNotFoundError: No module named dask',
    });
    expect(end(0, null, [])).toMatchObject({ code: 'EXITED' });
    expect(end(null, 'SIGKILL', [])).toMatchObject({ code: 'SIGNAL', signal: 'SIGKILL' });
    expect(end(3, null, ['...'])).toMatchObject({ code: 'PRELOAD' });
    expect(end(0, null, ['x'], true)).toMatchObject({ code: 'ENDED' });
  });

  it('names what an exception was raised from: "Nanny failed to start" says nothing', () => {
    const chained = [
      'Traceback (most recent call last):',
      '  File "distributed/worker.py", line 704, in __init__',
      "TypeError: Server.__init__() got an unexpected keyword argument 'nthread'",
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      'Traceback (most recent call last):',
      '  File "distributed/core.py", line 517, in start',
      'RuntimeError: Nanny failed to start.',
    ];
    expect(end(1, null, chained).text).toBe(
      'it ended by itself with exit code 1. The last it said: RuntimeError: Nanny failed to start. ' +
        "The cause: TypeError: Server.__init__() got an unexpected keyword argument 'nthread'",
    );
    const later = [
      'x - distributed.nanny - INFO - Closing',
      'Traceback (most recent call last):',
      '  x',
      'KeyError: 3',
    ];
    expect(end(1, null, [...chained, ...later]).text).toBe(
      'it ended by itself with exit code 1. The last it said: KeyError: 3',
    );
  });

  it('says that the program is wrong where every instance would fail in the same way', () => {
    const raised = (line: string) => end(1, null, ['Traceback (most recent call last):', '  x', line]).isProgramError;
    expect(raised("ModuleNotFoundError: No module named 'nope'")).toBe(true);
    expect(raised("TypeError: unexpected keyword argument 'nthread'")).toBe(true);
    expect(raised("ValueError: Could not interpret 'lots' as a byte unit")).toBe(true);
    expect(raised('ValueError: name taken, cluster-1-worker-0')).toBe(false);
    expect(raised('OSError: Timed out trying to connect to tls://10.0.0.1:8786 after 30 s')).toBe(false);
    expect(raised('MemoryError')).toBe(false);
    expect(end(null, 'SIGKILL', ['Traceback (most recent call last):', '  x', 'TypeError: x']).isProgramError).toBe(
      false,
    );
  });

  it('does not quote a line about usual work', () => {
    const usual = "2026-11-23 14:26:08,298 - distributed.worker - INFO - Run out-of-band function 'getpid'";
    expect(end(null, 'SIGKILL', [usual]).text).toBe('it was ended by SIGKILL from outside');
  });
});
