// Dask's processes as a user of their own, where the agent is root: the files that this user leaves in its directories, or
// exchanges while root prepares the next start of a process, redirect no operation of root.
import { lstatSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { DaskLife } from '../../agent/dask/context.ts';
import { runProcess } from '../../agent/dask/run-process.ts';
import { keepExtraWorker } from '../../agent/dask/scheduler/extra-worker.ts';
import { createSchedulerLink } from '../../agent/dask/scheduler/link.ts';
import { writePreload } from '../../agent/dask/scheduler/preload.ts';
import { freshPath, giveDirectory, handOver, makeOwned } from '../../agent/processes/hand-over.ts';
import { letPass, type TaskUser } from '../../agent/processes/task-user.ts';
import { hostRuntime } from '../../agent/runtimes/host/runtime.ts';
import { eventually } from '../support/eventually.ts';

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const user: TaskUser = { name: 'tasks', uid: 64_005, gid: 64_005, home: '/' };

/** Stands for the worker: puts a link to the victim wherever its user can, and prints its successes. Its second start only waits. */
const worker = `#!/usr/bin/python3
import json, os, sys, time
work, victim = os.environ["WORK"], os.environ["VICTIM"]
if os.path.exists(os.environ["REPORT"]):
    time.sleep(60)
done = []
def attempt(what, action):
    try: action()
    except OSError: return
    done.append(what)
for place in [work, os.getcwd()] + [os.path.dirname(name) for name in os.environ["KNOWN"].split(":")]:
    attempt("link in " + place, lambda: os.symlink(victim, place + "/dask-worker"))
attempt("rename " + work, lambda: os.rename(work, work + "-away"))
for name in os.environ["KNOWN"].split(":"):
    attempt("rename " + name, lambda: os.rename(name, name + "-away"))
with open(os.environ["REPORT"] + ".new", "w") as file: json.dump({"done": done, "cwd": os.getcwd()}, file)
os.rename(os.environ["REPORT"] + ".new", os.environ["REPORT"])
`;

describe.runIf(isRoot)('root, while it starts processes of the user of tasks', () => {
  let scratch: string;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'rw-dask-user-'));
    await chmod(scratch, 0o711);
  });
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  const makeWork = async (): Promise<{ directory: string; work: string }> => {
    const directory = await mkdtemp(join(scratch, 'i-'));
    const work = join(directory, 'work');
    await letPass(user, [directory, work]);
    return { directory, work };
  };

  it('writes nothing in what the scheduler has had, and changes no owner there', async () => {
    const { directory, work } = await makeWork();
    const victim = join(scratch, 'victim');
    await mkdir(join(victim, 'in'), { recursive: true });
    await writeFile(join(victim, 'in', 'file'), 'of root');
    const tls = join(work, 'tls-1');
    await mkdir(tls, { mode: 0o700 });
    for (const name of ['ca.pem', 'certificate.pem', 'key.pem']) await writeFile(join(tls, name), name);
    await handOver(user, tls);
    const preload = await writePreload(work, user);
    const link = await createSchedulerLink({ parent: work, user });
    const home = join(scratch, 'home');
    await mkdir(home);
    await chmod(home, 0o777);
    const [script, report] = [join(home, 'worker'), join(home, 'report')];
    await writeFile(script, worker);
    await chmod(script, 0o755);
    const log: string[] = [];
    const cwds: string[] = [];
    const stopping = new AbortController();
    const input = { stopping, user, log: { write: (text: string) => void log.push(text) } };
    const env = {
      WORK: work,
      VICTIM: victim,
      REPORT: report,
      KNOWN: [join(tls, 'key.pem'), link.socketPath, preload].join(':'),
    };
    const life = {
      input,
      work,
      bundle: {
        ...{ workerClass: null, workerOptions: { a: 1 }, env: {}, workersPerInstance: 1, nthreads: null },
        ...{ memoryLimit: null, workerNanny: true },
      },
      session: { registered: () => ({ cluster: { name: 'c' } }) },
      place: () => ({
        ...{
          instance: 'i_1',
          runtime: { ...hostRuntime(user), python: script },
          directory: freshPath(work, 'scheduler'),
        },
        ...{ host: '127.0.0.1', port: 0, base: { PATH: '/usr/bin:/bin' }, env },
        tls: { caFile: join(tls, 'ca.pem'), certFile: join(tls, 'certificate.pem'), keyFile: join(tls, 'key.pem') },
      }),
      start: (_: unknown, command: Parameters<DaskLife['start']>[1]) => {
        cwds.push(command.cwd);
        const options = { runtime: hostRuntime(user), user, pipeDirectory: directory };
        return runProcess(command, { ...options, onLines: (_stream, lines) => void log.push(...lines) });
      },
      end: (running: { end: (ms: number) => unknown }) => running.end(500),
    };
    const marks = (): string[] =>
      [tls, join(tls, 'ca.pem'), dirname(preload)].map(
        (path) => `${path} ${lstatSync(path, { bigint: true }).ctimeNs}`,
      );
    // The parts of the cluster that a worker needs.
    const end = keepExtraWorker(
      life as unknown as DaskLife,
      { runtime: hostRuntime(user), tls: life.place().tls },
      'tls://x:1',
    );
    try {
      await eventually(() =>
        stat(report).then(
          () => true,
          () => false,
        ),
      );
      // It could change its own directories and their contents.
      const before = marks();
      const said = JSON.parse(await readFile(report, 'utf8'));
      expect(said.done.toSorted()).toEqual(
        [
          `link in ${tls}`,
          `link in ${dirname(preload)}`,
          `link in ${said.cwd}`,
          `rename ${preload}`,
          `rename ${join(tls, 'key.pem')}`,
        ].toSorted(),
      );
      await eventually(() => cwds.length === 2);
      await eventually(() =>
        lstat(cwds[1] ?? '').then(
          ({ uid }) => uid === user.uid,
          () => false,
        ),
      );
      expect(cwds[1]).not.toBe(cwds[0]);
      expect(marks()).toEqual(before);
      // Spilled data and links of the first one are removed as their owner.
      await expect(stat(cwds[0] ?? '')).rejects.toThrow('ENOENT');
    } finally {
      stopping.abort();
      await end();
      await link.close();
    }
    expect((await stat(join(victim, 'in', 'file'))).uid).toBe(0);
    expect(await readdir(victim)).toEqual(['in']);
    expect((await stat(work)).uid).toBe(0);
  });

  it('makes no process a directory that is there already', async () => {
    const { directory, work } = await makeWork();
    const cwd = join(work, 'taken');
    await mkdir(cwd, { mode: 0o700 });
    const command = { argv: ['true'], env: {}, cwd, files: [] };
    const options = { runtime: hostRuntime(user), user, pipeDirectory: directory, onLines: () => undefined };
    await expect(runProcess(command, options)).rejects.toThrow('EEXIST');
  });

  it('gives away only what no other user could have entered, and never twice', async () => {
    const { work } = await makeWork();
    const path = freshPath(work, 'given');
    await mkdir(path, { mode: 0o700 });
    await chmod(path, 0o711);
    await expect(handOver(user, path)).rejects.toThrow('no other user can enter');
    await chmod(path, 0o700);
    await handOver(user, path);
    await expect(handOver(user, path)).rejects.toThrow('no other user can enter');
    await expect(giveDirectory(user, path)).rejects.toThrow('no other user can enter');
    const kept = join(work, 'kept');
    await mkdir(join(kept, 'in'), { recursive: true });
    for (let nth = 0; nth < 2; nth += 1) await makeOwned(user, kept);
    expect([(await stat(kept)).uid, (await stat(join(kept, 'in'))).uid]).toEqual([user.uid, 0]);
    await symlink(kept, join(work, 'link'));
    await expect(makeOwned(user, join(work, 'link'))).rejects.toThrow(/ENOTDIR|ELOOP/);
    await expect(letPass(user, [path])).rejects.toThrow("has to be the agent's");
  });
});
