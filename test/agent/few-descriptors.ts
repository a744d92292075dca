// A program whose process may open few more files than the command it starts needs: prints how many ends of pipes stay open.
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';

import { runProcess } from '../../agent/dask/run-process.ts';
import { startTask } from '../../agent/job/run-task.ts';
import { freshPath } from '../../agent/processes/hand-over.ts';
import { hostRuntime } from '../../agent/runtimes/host/runtime.ts';
import { eventually } from '../support/eventually.ts';

const [directory = '', kind, left = ''] = process.argv.slice(2);
const log = {
  write: () => undefined,
  append: () => true,
  drained: async () => undefined,
  close: async () => undefined,
};

/** No pauses between attempts: the missing part does not appear meanwhile. */
const atOnce = { preparationPausesMs: [] };

/** True when it could be started. */
async function start(): Promise<boolean> {
  const command = { argv: ['true'], env: {}, cwd: directory, files: [] };
  if (kind === 'task') {
    const nothing = {
      prepare: async () => command,
      keepFiles: async () => undefined,
      started: () => undefined,
      cleanUp: async () => undefined,
    };
    const input = { runtime: hostRuntime(null), pipeDirectory: directory, log, ...nothing, ...atOnce };
    const end = await startTask(input).ended;
    return end.kind === 'ended' && end.exitCode === 0;
  }
  const ofDask = { ...command, cwd: freshPath(directory, 'dask') };
  const options = { runtime: hostRuntime(null), user: null, pipeDirectory: directory, onLines: () => undefined };
  return runProcess(ofDask, options).then(
    async ({ ended }) => (await ended, true),
    () => false,
  );
}

const openEnds = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/pipe-');
    } catch {
      return false;
    }
  }).length;

// Pipes are created here, with all the files that takes: the next command finds them.
const first = await start();
await eventually(() => openEnds() === 0);
const hogs: number[] = [];
try {
  for (;;) hogs.push(openSync('/dev/null', 'r'));
} catch {
  for (const fd of hogs.splice(0, Number(left))) closeSync(fd);
}
const second = await start();
for (const fd of hogs) closeSync(fd);
const third = await start();
const ends = await eventually(() => openEnds() === 0, { timeoutMs: 2_000 }).then(
  () => 0,
  () => openEnds(),
);
process.stdout.write(JSON.stringify({ first, second, third, ends }));
