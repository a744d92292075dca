// A real Dask cluster as an agent runs it: link, scheduler, workers, all by agent/dask. Ends all its processes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Hello } from '../../agent/dask/scheduler/messages.ts';
import { writePreload } from '../../agent/dask/scheduler/preload.ts';
import { schedulerProcess, workerProcess } from '../../agent/dask/commands.ts';
import type { Place, SchedulerInput, WorkerInput } from '../../agent/dask/commands.ts';
import { runProcess } from '../../agent/dask/run-process.ts';
import { freshPath } from '../../agent/processes/hand-over.ts';
import type { RunningProcess } from '../../agent/dask/run-process.ts';
import { environmentRuntime } from '../../agent/runtimes/environment/runtime.ts';
import { hostRuntime } from '../../agent/runtimes/host/runtime.ts';
import { createSchedulerLink } from '../../agent/dask/scheduler/link.ts';
import type { SchedulerLink } from '../../agent/dask/scheduler/link.ts';
import { createCertificates } from './certificates.ts';
import type { Certificates } from './certificates.ts';
import { daskEnvironment } from './environments.ts';

export interface Bench {
  directory: string;
  pythonDirectory: string;
  certificates: Certificates;
  link: SchedulerLink;
  /** The output of all processes. */
  lines: string[];
  startScheduler: (more?: Partial<SchedulerInput>) => Promise<RunningProcess>;
  startWorker: (hello: Hello, name: string, more?: Partial<WorkerInput>) => Promise<RunningProcess>;
  close: () => Promise<void>;
}

export async function createBench(version: string, socketPath?: string): Promise<Bench> {
  const pythonDirectory = await daskEnvironment(version);
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-dask-'));
  const certificates = await createCertificates(join(directory, 'tls'));
  const preloadPath = await writePreload(directory, null);
  const link = await createSchedulerLink(socketPath === undefined ? {} : { socketPath });
  const running: RunningProcess[] = [];
  const lines: string[] = [];
  const place = (name: string, role: keyof Certificates): Place => ({
    instance: `i_${name}`,
    runtime: environmentRuntime({ directory: pythonDirectory, leftOut: null, modules: null, user: null }),
    directory: freshPath(directory, name),
    host: '127.0.0.1',
    port: 0,
    tls: certificates[role],
    base: { PATH: process.env['PATH'], HOME: directory },
    env: {},
  });
  const start = async (command: ReturnType<typeof schedulerProcess>): Promise<RunningProcess> => {
    const started = await runProcess(command, {
      ...{ runtime: hostRuntime(null), user: null, pipeDirectory: directory },
      onLines: (_, more) => void lines.push(...more),
    });
    running.push(started);
    return started;
  };
  return {
    directory,
    pythonDirectory,
    certificates,
    link,
    lines,
    startScheduler: (more = {}) =>
      start(
        schedulerProcess({
          ...place('scheduler', 'scheduler'),
          socketPath: link.socketPath,
          preloadPath,
          httpPort: 0,
          ...more,
        }),
      ),
    startWorker: (hello, name, more = {}) =>
      start(
        workerProcess({ ...place(name, 'worker'), scheduler: { address: hello.address }, name, nthreads: 1, ...more }),
      ),
    close: async () => {
      // No grace period: the nanny's grace is for running tasks.
      await Promise.all(running.map((each) => each.end(0)));
      await link.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
