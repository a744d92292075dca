// A task beyond its time limit: TERM, then KILL, and a failure with its own exit code.
import { tmpdir } from 'node:os';

import { describe, expect, it } from 'vitest';

import { startTask } from '../../agent/job/run-task.ts';
import type { RunningCommand } from '../../agent/processes/start-process.ts';

/** A command that ends by itself after `runsMs`, or when it is ended; `graces` are the grace periods it was given. */
function run(limitMs: number | undefined, runsMs: number, exitCode: number) {
  const graces: number[] = [];
  const running: RunningCommand = commandThat(runsMs, exitCode, (graceMs) => graces.push(graceMs));
  const task = startTask({
    runtime: { start: () => Promise.resolve(running) },
    log: { write: () => undefined, close: () => Promise.resolve() } as never,
    pipeDirectory: tmpdir(),
    prepare: () => Promise.resolve({ argv: ['x'], env: {}, cwd: tmpdir() }),
    started: () => undefined,
    keepFiles: () => Promise.resolve(),
    cleanUp: () => Promise.resolve(),
    timeoutMs: limitMs,
  });
  return { task, graces };
}

function commandThat(runsMs: number, exitCode: number, onEnd: (graceMs: number) => void): RunningCommand {
  const { promise, resolve } = Promise.withResolvers<{ exitCode: number; signal: null; exitedAtMs: number }>();
  const exit = () => resolve({ exitCode, signal: null, exitedAtMs: performance.now() });
  const timer = setTimeout(exit, runsMs);
  return {
    pid: 1,
    ended: promise,
    end: (graceMs: number) => {
      onEnd(graceMs);
      clearTimeout(timer);
      exit();
    },
  };
}

describe('a task with a time limit', () => {
  it('is ended when it reaches the limit, and has failed even if it then exits with 0', async () => {
    const { task, graces } = run(20, 3_600_000, 0);
    expect(await task.ended).toMatchObject({
      kind: 'ended',
      exitCode: 124,
      signal: null,
      reason: 'The task ran longer than its limit of 0.02 s and was ended.',
    });
    expect(graces).toEqual([10_000]);
  });

  it.each([3_600_000, undefined])('of %s ms that it does not reach has its own exit code', async (limitMs) => {
    const { task, graces } = run(limitMs, 10, 3);
    expect(await task.ended).toMatchObject({ exitCode: 3, reason: null });
    expect(graces).toEqual([]);
  });
});
