// Failed attempts by their cause.
import { describe, expect, it } from 'vitest';

import { causeOf, failureGroups, noteCause } from '../../../domain/job/failure-groups.ts';
import type { JobState } from '../../../domain/job/state.ts';

describe('the failures of a job', () => {
  it('are grouped by exit code or signal', () => {
    expect(causeOf({ exitCode: 3, signal: null })).toBe('EXIT_3');
    expect(causeOf({ exitCode: null, signal: 'SIGKILL' })).toBe('SIGKILL');
    expect(causeOf({ exitCode: null, signal: null })).toBe('OTHER');
  });

  it('keep the newest text, and come with the most frequent first', () => {
    const state: Pick<JobState, 'causes'> = {};
    expect(failureGroups(state.causes)).toEqual([]);
    noteCause(state, 'EXIT_1', 'exit code 1', 1);
    noteCause(state, 'SIGKILL', 'signal SIGKILL', 2);
    noteCause(state, 'SIGKILL', `signal SIGKILL: ${'x'.repeat(1_000)}`, 3);
    const [first, second] = failureGroups(state.causes);
    expect(first).toMatchObject({ code: 'SIGKILL', count: 2, lastAtMs: 3 });
    expect(first?.text).toHaveLength(300);
    expect(second).toEqual({ code: 'EXIT_1', text: 'exit code 1', count: 1, lastAtMs: 1 });
  });

  it('stay few, however many exit codes there are', () => {
    const state: Pick<JobState, 'causes'> = {};
    for (let code = 1; code <= 255; code += 1) noteCause(state, `EXIT_${code}`, `exit code ${code}`, code);
    noteCause(state, 'EXIT_1', 'exit code 1', 300);
    const groups = failureGroups(state.causes);
    expect(groups).toHaveLength(21);
    expect(groups[0]).toEqual({ code: 'OTHER', text: 'exit code 255', count: 235, lastAtMs: 255 });
    expect(groups[1]).toMatchObject({ code: 'EXIT_1', count: 2 });
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(256);
  });
});
