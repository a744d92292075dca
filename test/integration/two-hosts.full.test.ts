// Two hosts that share nothing but PostgreSQL, Temporal, a bucket and the key file: each has a home of its own, an API and a
// Temporal worker. One host is killed during a job, loses its disk and returns; then the other one is killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { buildProduction } from '../../ops/build.ts';
import { createKeys } from '../../platform/keys.ts';
import { createClient, type Client } from '../../sdk/client.ts';
import { runCli } from '../cli/run-cli.ts';
import { findPostgres, startPostgres, type PostgresServer } from '../store/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { findS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { makeHome, node24, removeHome } from '../support/stack.ts';
import { startTemporalProcess, type TemporalProcess } from '../support/temporal-process.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const [postgres, s3] = await Promise.all([findPostgres(), findS3Server()]);
for (const found of [postgres, s3]) {
  if ('missing' in found) console.log(`The test of two hosts is left out. ${found.missing}`);
}

interface Host {
  home: string;
  port: number;
  client: Client;
  start(): Promise<void>;
  /** Kills API and Temporal worker, as a crash of the host's services does. Its agents live. */
  kill(): Promise<void>;
  output(): string;
}

describe.runIf('directory' in postgres && 'program' in s3)('two hosts without a common file system', () => {
  let database: PostgresServer;
  let store: S3Server;
  let temporal: TemporalProcess;
  let bundles: string;
  let balancer: { url: string; server: Server };
  let shared: Record<string, string>;
  const hosts: Host[] = [];

  beforeAll(async () => {
    bundles = await mkdtemp(join(tmpdir(), 'ropewalk-bundles-'));
    database = await startPostgres('directory' in postgres ? postgres.directory : '');
    store = await startS3Server('program' in s3 ? s3.program : '');
    temporal = await startTemporalProcess({ namespaces: [] });
    balancer = await startBalancer(() => hosts.map(({ port }) => port));
    const { agent, workflows } = await buildProduction(bundles);
    shared = {
      PATH: process.env['PATH'] ?? '',
      ROPEWALK_DATABASE_URL: await database.createDatabase(),
      ROPEWALK_OBJECTS: `s3://${await store.createBucket()}/ropewalk?endpoint=${store.endpoint}&pathStyle=true`,
      AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.credentials.secretAccessKey,
      TEMPORAL_ADDRESS: temporal.address,
      ROPEWALK_PROVIDERS: 'local',
      ROPEWALK_API_URL: balancer.url,
      ROPEWALK_PUBLIC_URL: balancer.url,
      ROPEWALK_AGENT_BUNDLE: agent,
      ROPEWALK_WORKFLOW_BUNDLE: workflows,
      ROPEWALK_LOG_LEVEL: 'warn',
    };
    const home = await makeHome();
    const init = () => runCli(['init', '--admin', 'ada'], { env: { ...shared, ROPEWALK_HOME: home, HOME: home } });
    const { stdout } = await eventually(async () => {
      const result = await init();
      if (result.code !== 0) throw new Error(result.stderr);
      return result;
    });
    hosts.push(await makeHost({ id: 'host_a', home, token: stdout.trim() }));
    const other = await makeHome();
    await copyFile(join(home, 'keys.json'), join(other, 'keys.json'));
    hosts.push(await makeHost({ id: 'host_b', home: other, token: stdout.trim() }));
    await Promise.all(hosts.map((host) => host.start()));
  });

  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    for (const { home } of hosts) {
      for (const { pid } of await processesOfHome(home)) process.kill(pid, 'SIGKILL');
      await removeHome(home);
    }
    balancer?.server.close();
    await Promise.all([temporal?.stop(), store?.stop(), database?.stop()]);
    await rm(bundles, { recursive: true, force: true });
  });

  const makeHost = async (options: { id: string; home: string; token: string }): Promise<Host> => {
    const { id, home, token } = options;
    const port = await freePort();
    let children: ChildProcess[] = [];
    let text = '';
    const env = { ...shared, HOME: home, ROPEWALK_HOME: home, ROPEWALK_HOST_ID: id, ROPEWALK_PORT: String(port) };
    const run = (args: string[]): ChildProcess => {
      const child = spawn(node24, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      return child;
    };
    const apiUrl = `http://127.0.0.1:${port}`;
    return {
      home,
      port,
      client: createClient({ apiUrl, token }),
      start: async () => {
        children = [run(['api/server.ts']), run(['worker.ts'])];
        await eventually(async () => {
          if (children.some(({ exitCode }) => exitCode !== null)) return 'ended';
          return (await fetch(`${apiUrl}/readyz`)).ok;
        }).then((state) => expect([state, text]).toEqual([true, expect.anything()]));
      },
      kill: async () => {
        const alive = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
        const exits = alive.map((child) => once(child, 'exit'));
        for (const child of alive) child.kill('SIGKILL');
        await Promise.all(exits);
      },
      output: () => text,
    };
  };

  it('runs every task of its jobs while one host after the other is killed', async () => {
    const [a, b] = hosts;
    if (a === undefined || b === undefined) throw new Error('there are no hosts');
    const job = (client: Client) =>
      client.jobs.create({
        command: ['sh', '-c', 'sleep 0.3; echo "out of $ROPEWALK_BATCH_TASK_ID"'],
        ntasks: 60,
        maxWorkers: 3,
      });
    // Its instances are processes of host B: that host's API chose the place.
    const { number } = await job(b.client);
    await eventually(async () => (await b.client.jobs.get(number)).tasks.done >= 5);
    await a.kill();
    // The host is lost with its disk: the bucket and a copy of the key file replace it.
    await rm(join(a.home, 'ropewalk.db'), { force: true });
    expect(await readdir(a.home)).not.toContain('objects');
    expect(await b.client.jobs.wait(number)).toMatchObject({ status: 'done', tasks: { done: 60, error: 0 } });

    await a.start();
    const second = await job(b.client);
    await eventually(async () => (await a.client.jobs.get(second.number)).tasks.done >= 5);
    await b.kill();
    // The agents of host B reach host A through the balancer.
    expect(await a.client.jobs.wait(second.number)).toMatchObject({ status: 'done', tasks: { done: 60, error: 0 } });
    for (const each of [number, second.number]) {
      const tasks = [];
      for await (const task of a.client.jobs.tasks(each)) tasks.push(task.id);
      expect(tasks.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, id) => id));
    }
    await b.start();
    await eventually(async () => (await processesOfHome(b.home)).length <= 2, { timeoutMs: 90_000 });
  });

  it('refuses a host with another key file', async () => {
    const home = await makeHome();
    try {
      await createKeys(join(home, 'keys.json'));
      const { ROPEWALK_API_URL: _url, ...env } = shared;
      const child = spawn(node24, ['api/server.ts'], {
        cwd: repository,
        env: { ...env, HOME: home, ROPEWALK_HOME: home, ROPEWALK_HOST_ID: 'host_c', ROPEWALK_PORT: '0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const [code] = await once(child, 'exit');
      expect([code, text]).toEqual([
        1,
        expect.stringContaining('The keys of this process are not those of deployment'),
      ]);
      expect(text).not.toContain(JSON.parse(await readFile(join(hosts[0]?.home ?? '', 'keys.json'), 'utf8')).current);
    } finally {
      await removeHome(home);
    }
  });
});

/** Hands each connection to the first host that accepts one. */
async function startBalancer(ports: () => number[]): Promise<{ url: string; server: Server }> {
  const dial = (port: number): Promise<Socket | null> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(socket));
      socket.once('error', () => resolve(null));
    });
  const server = createServer({ pauseOnConnect: true }, (near) => {
    near.on('error', () => near.destroy());
    void (async () => {
      for (const port of ports()) {
        const far = await dial(port);
        if (far === null) continue;
        far.on('error', () => near.destroy()).on('close', () => near.destroy());
        near.on('close', () => far.destroy());
        near.pipe(far);
        far.pipe(near);
        return;
      }
      near.destroy();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, server };
}
