// A PostgreSQL server of the test's own, from Debian's package: a temporary directory, a free port of loopback, a password.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

export interface PostgresServer {
  /** Of a new and empty database. */
  createDatabase(): Promise<string>;
  /** Ends all connections, as an administrator or a failing network does. */
  endConnections(): Promise<void>;
  /** `immediate`: as by a crash; the next start recovers from the log. */
  restart(mode: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

export const postgresPassword = 'pass-of-the-test-server';

/** The directory of the server's programs, or a sentence with the reason why the server is missing. */
export async function findPostgres(): Promise<{ directory: string } | { missing: string }> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) return { missing: 'PostgreSQL is not installed: apt-get install postgresql.' };
  if (process.getuid?.() === 0 && (await postgresUser()) === null) {
    return { missing: 'PostgreSQL does not run as root, and there is no user postgres.' };
  }
  return { directory: join('/usr/lib/postgresql', newest, 'bin') };
}

/** `durable`: with fsync, as in production; tests do not cut the power. */
export async function startPostgres(binaries: string, { durable = false } = {}): Promise<PostgresServer> {
  const data = await mkdtemp(join(tmpdir(), 'ropewalk-postgres-'));
  const user = await postgresUser();
  const as = user === null ? {} : user;
  if (user !== null) await chown(data, user.uid, user.gid);
  const passwordFile = join(data, '..', `${data.split('/').at(-1)}.password`);
  await writeFile(passwordFile, postgresPassword, { mode: 0o644 });
  const initdb = ['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
  await run(join(binaries, 'initdb'), [...initdb, '--locale=C.UTF-8', '--no-sync'], as);
  await rm(passwordFile);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: durable ? 'on' : 'off' };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string): string => `postgresql://postgres:${postgresPassword}@127.0.0.1:${port}/${database}`;

  const start = async (): Promise<(signal?: NodeJS.Signals) => Promise<void>> => {
    const server = spawn(join(binaries, 'postgres'), ['-D', data, ...options], { ...as, stdio: 'ignore' });
    const exited = once(server, 'exit');
    await eventually(() => query(url('postgres'), 'select 1').then(() => true));
    return async (signal = 'SIGINT') => {
      server.kill(signal);
      await exited;
    };
  };
  let end = await start();
  let databases = 0;
  return {
    createDatabase: async () => {
      const name = `test_${(databases += 1)}`;
      await query(url('postgres'), `create database ${name}`);
      return url(name);
    },
    endConnections: async () => {
      await query(url('postgres'), 'select pg_terminate_backend(pid) from pg_stat_activity where datname ~ $1', [
        '^test_',
      ]);
    },
    restart: async (mode) => {
      await end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      end = await start();
    },
    stop: async () => {
      await end();
      await rm(data, { recursive: true });
    },
  };
}

const run = promisify(execFile);

async function query(url: string, text: string, values: string[] = []): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

/** Null: the tests do not run as root, and the server runs as their user. */
async function postgresUser(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return null;
  }
}
