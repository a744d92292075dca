// A Slurm of one node in a temporary directory, tuned so that small array tasks finish as fast as it can: no pauses between rounds of its
// scheduler, no accounting, no control groups. Needs root and Debian's packages slurm-wlm and munge.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { eventually } from '../../test/support/eventually.ts';
import { freePort } from '../../test/support/free-port.ts';

const run = promisify(execFile);

export interface Slurm {
  /** Seconds from the submission of an array of this many tasks to the end of the last one. */
  array(tasks: number, command: string): Promise<number>;
  stop(): Promise<void>;
}

/** `slots`: concurrent tasks, whatever the machine's cores. */
export async function startSlurm(slots: number): Promise<Slurm> {
  // munged requires parents of its socket that others may enter.
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-slurm-'));
  await chmod(directory, 0o755);
  const at = (name: string): string => join(directory, name);
  await Promise.all([mkdir(at('state')), mkdir(at('spool')), mkdir(at('log'))]);
  await writeFile(at('munge.key'), randomBytes(1024), { mode: 0o600 });
  await writeFile(at('slurm.conf'), await configuration(directory, slots));
  const env = { PATH: `${process.env['PATH']}:/usr/sbin`, SLURM_CONF: at('slurm.conf') };
  const children: ChildProcess[] = [];
  const start = (program: string, words: string[]): void => {
    const child = spawn(program, words, { env, cwd: directory, stdio: 'ignore', detached: true });
    child.once('error', (cause) => {
      throw new Error(`${program} is needed for this bench: apt-get install slurm-wlm munge`, { cause });
    });
    children.push(child);
  };
  const stop = async (): Promise<void> => {
    await Promise.all(children.toReversed().map(end));
    await rm(directory, { recursive: true, force: true });
  };
  const ask = async (program: string, words: string[]): Promise<string> =>
    (await run(program, words, { env, cwd: directory, maxBuffer: 64 * 1024 * 1024 })).stdout;
  const socket = at('munge.socket');
  const files = [`--key-file=${at('munge.key')}`, `--socket=${socket}`, `--pid-file=${at('munged.pid')}`];
  start('munged', ['--force', '--foreground', ...files, `--log-file=${at('log/munged')}`, `--seed-file=${at('seed')}`]);
  await eventually(() => Promise.resolve(existsSync(socket) || null));
  start('slurmctld', ['-D']);
  start('slurmd', ['-D']);
  await eventually(async () => (await ask('sinfo', ['-h', '-o', '%t']).catch(() => '')).trim() === 'idle' || null);
  return {
    async array(tasks, command) {
      const startedAtMs = performance.now();
      const words = ['--parsable', `--array=0-${tasks - 1}`, '--output=/dev/null', `--wrap=${command}`];
      const job = (await ask('sbatch', words)).trim();
      await eventually(async () => (await ask('squeue', ['-h', '-j', job]).catch(() => '')).trim() === '' || null, {
        timeoutMs: 600_000,
      });
      return (performance.now() - startedAtMs) / 1_000;
    },
    stop,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await closed;
  clearTimeout(timer);
}

async function configuration(directory: string, slots: number): Promise<string> {
  const [controller, node] = [await freePort(), await freePort()];
  const settings: Record<string, string> = {
    ClusterName: 'bench',
    SlurmctldHost: `${hostname()}(127.0.0.1)`,
    SlurmctldPort: String(controller),
    SlurmdPort: String(node),
    AuthType: 'auth/munge',
    AuthInfo: `socket=${directory}/munge.socket`,
    CredType: 'cred/munge',
    SlurmUser: 'root',
    SlurmdUser: 'root',
    StateSaveLocation: `${directory}/state`,
    SlurmdSpoolDir: `${directory}/spool`,
    SlurmctldPidFile: `${directory}/slurmctld.pid`,
    SlurmdPidFile: `${directory}/slurmd.pid`,
    SlurmctldLogFile: `${directory}/log/slurmctld`,
    SlurmdLogFile: `${directory}/log/slurmd`,
    ProctrackType: 'proctrack/pgid',
    TaskPlugin: 'task/none',
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_CPU',
    SchedulerType: 'sched/builtin',
    SchedulerParameters: 'sched_min_interval=0,sched_interval=1,batch_sched_delay=0,default_queue_depth=1000',
    SlurmdParameters: 'config_overrides',
    MaxArraySize: '100001',
    MaxJobCount: '200000',
    MinJobAge: '2',
    ReturnToService: '2',
    MpiDefault: 'none',
    AccountingStorageType: 'accounting_storage/none',
    JobAcctGatherType: 'jobacct_gather/none',
  };
  const cpus = `CPUs=${slots} Boards=1 SocketsPerBoard=1 CoresPerSocket=${slots} ThreadsPerCore=1`;
  return [
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    `NodeName=${hostname()} NodeAddr=127.0.0.1 ${cpus} RealMemory=1000 State=UNKNOWN`,
    'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP',
    '',
  ].join('\n');
}
