// The run of one Dask process: its files, its lines, its end.
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { DaskProcess } from '../../agent/dask/commands.ts';
import { runProcess, type RunOptions } from '../../agent/dask/run-process.ts';
import { hostRuntime } from '../../agent/runtimes/host/runtime.ts';
import { eventually } from '../support/eventually.ts';
import { processesOf } from './sockets.ts';

describe('a process', () => {
  const command = (directory: string, script: string): DaskProcess => ({
    argv: ['/bin/bash', '-c', script],
    env: { PATH: '/usr/bin:/bin' },
    cwd: directory,
    files: [{ path: join(directory, 'spec'), content: 'secret' }],
  });
  const inDirectory = async (
    use: (directory: string, options: Omit<RunOptions, 'onLines'>) => Promise<void>,
  ): Promise<void> => {
    const pipeDirectory = await mkdtemp(join(tmpdir(), 'ropewalk-run-'));
    await use(join(pipeDirectory, 'own'), { runtime: hostRuntime(null), user: null, pipeDirectory }).finally(() =>
      rm(pipeDirectory, { recursive: true, force: true }),
    );
  };

  it('writes its files for its owner alone, gives its lines, and says why it ended', () =>
    inDirectory(async (directory, options) => {
      const lines: string[] = [];
      const running = await runProcess(command(directory, 'cat spec; echo; echo oops > /dev/stderr; exit 4'), {
        ...options,
        onLines: (stream, more) => void lines.push(...more.map((line) => `${stream} ${line}`)),
      });
      await expect(running.whenRegistered(10_000)).rejects.toThrow(
        /ended before it reached its scheduler.*exit code 4/,
      );
      await expect(running.orEnded(new Promise(() => undefined))).rejects.toThrow(/the process ended: .*exit code 4/);
      expect(lines.toSorted()).toEqual(['stderr oops', 'stdout secret']);
      expect((await stat(join(directory, 'spec'))).mode & 0o777).toBe(0o600);
    }));

  it('is ended with all of its group, also when it ignores SIGTERM', () =>
    inDirectory(async (directory, options) => {
      const lines: string[] = [];
      const script = 'trap "" TERM; bash -c \'trap "" TERM; echo child; while :; do sleep 1; done\' & wait; wait';
      const running = await runProcess(command(directory, script), {
        ...options,
        onLines: (_, more) => void lines.push(...more),
      });
      await eventually(() => lines.includes('child'));
      expect(processesOf(running.pid).length).toBeGreaterThanOrEqual(2);
      expect(await running.end(100)).toMatchObject({ code: 'ENDED', signal: 'SIGKILL' });
      await eventually(() => processesOf(running.pid).length === 0);
    }));

  it('that cannot be started says what is missing', () =>
    inDirectory(async (directory, options) => {
      const missing = { ...command(directory, ''), argv: ['/nowhere/bin/python', '-m', 'dask'] };
      await expect(runProcess(missing, { ...options, onLines: () => undefined })).rejects.toThrow(
        /^\/nowhere\/bin\/python could not be started: .*ENOENT.*Is the Python environment complete\?$/,
      );
    }));

  it('is not started in a directory that another one has had', () =>
    inDirectory(async (directory, options) => {
      await mkdir(directory);
      const started = runProcess(command(directory, 'true'), { ...options, onLines: () => undefined });
      await expect(started).rejects.toThrow('EEXIST');
    }));
});
