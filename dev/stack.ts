// The one-machine stack: what is started in which order, and ended in the reverse one. At any moment `stop` ends what runs
// so far. It leaves nothing behind but the home directory.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Client } from '@temporalio/client';

import { RopewalkError } from '../domain/errors.ts';
import { listInstanceIds } from '../providers/local/files.ts';
import { configuredPlaces } from '../ops/clouds.ts';
import { type Host, loadHost } from '../ops/host.ts';
import { prepareTemporal } from '../ops/init/prepare.ts';
import { plural } from '../ops/plural.ts';
import { buildBundles, type Bundles, compileCache, repository } from './build.ts';
import { type DevConfig, localInstances, prepareSettings } from './config.ts';
import { guardDatabase } from './database-version.ts';
import { writeJson } from '../ops/files.ts';
import { defaultWorkspace, ensureWorkspace } from './first-run.ts';
import type { Home } from './home.ts';
import { countRunning, endInstances, pruneInstances, reportDead } from './instances.ts';
import { countOpen, listOpen } from './open-work.ts';
import { choosePorts } from './ports.ts';
import { endSurvivors } from '../ops/processes.ts';
import { type ChildSpec, createSupervisor } from './supervisor.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { embeddedTemporal, externalTemporal, requireExternal, type Temporal, temporalServer } from './temporal.ts';
import { ensureToken } from './token.ts';
import { moveUnfinishedAside } from './unfinished-database.ts';

export interface StackOptions {
  home: Home;
  config: DevConfig;
  env: Record<string, string>;
  say: (line: string) => void;
}

/** $HOME/run/stack.json: there when the stack is ready, and only then. */
export interface StackInfo {
  apiUrl: string;
  temporalAddress: string;
  namespace: string;
  uiUrl: string | null;
  pids: Record<string, number>;
}

export interface Stack {
  start: () => Promise<StackInfo>;
  /** `keepEarlier`: instances that ran before this start go on, because the start has failed. */
  stop: (options: { keepEarlier: boolean }) => Promise<void>;
  /** At once and without order; instances live on and are adopted by the next start. */
  killAll: () => void;
}

export function createStack(options: StackOptions): Stack {
  const { home, config, env, say } = options;
  let info: Omit<StackInfo, 'pids'> | null = null;
  let client: Client | null = null;
  let earlier: ReadonlySet<string> = new Set();
  const stopping = new AbortController();
  const started: string[] = [];
  const supervisor = createSupervisor({ runDir: home.runDir, say, onSpawn: () => void publish() });

  async function publish(): Promise<void> {
    if (info !== null) await writeJson(home.stackFile, { ...info, pids: { dev: process.pid, ...supervisor.pids() } });
  }

  async function run(spec: ChildSpec): Promise<void> {
    if (stopping.signal.aborted) throw new Error('the stack was stopped while it started');
    started.push(spec.name);
    await supervisor.start(spec);
  }

  async function start(): Promise<StackInfo> {
    earlier = new Set(await listInstanceIds(home.path));
    await rm(home.stackFile, { force: true });
    const survivors = await endSurvivors(home.path, home.runDir);
    if (survivors.length > 0) say(`ended what an earlier stack left running: ${survivors.join(', ')}`);
    const host = await loadHost(home.path);
    const external = externalTemporal(env, config);
    const ports = await choosePorts(home.path, config.ports, external === null);
    const temporal = external ?? embeddedTemporal(ports, config);
    const connection = temporal.connect();
    client = new Client({ connection, namespace: temporal.namespace });
    const building = buildBundles();
    // Awaited below; until then a failure must not count as unhandled.
    building.catch(() => undefined);
    const plain = plainEnv(env, home);
    if (temporal.isEmbedded) {
      const binary = await findTemporalBinary({ env, say });
      await guardDatabase(home.database, binary);
      const aside = await moveUnfinishedAside(home.database);
      if (aside !== null) say(`Temporal's database was never finished: it is now ${aside}, and a new one is made`);
      await run(temporalServer({ binary, home, ports, config, env: plain, connection }));
    } else {
      await requireExternal(temporal, connection);
    }
    const { namespace } = temporal;
    const clouds = configuredPlaces(config.worker.env);
    const settings = prepareSettings(config);
    await prepareTemporal({ connection, client, namespace, host, home: home.path, clouds, settings });

    const apiUrl = `http://127.0.0.1:${ports.api}`;
    const context = { config, host, temporal, plain, apiUrl, port: ports.api, bundles: await building };
    const { signal } = stopping;
    await Promise.all([apiServer(context), ...temporalWorkers(context)].map(run));
    await ensureWorkspace(client, defaultWorkspace, signal).catch(workerIsSilent);
    await ensureToken(client, { configFile: home.configFile, apiUrl, workspace: defaultWorkspace, signal });

    const adopted = await countRunning(home.path);
    if (adopted > 0) say(`adopted ${plural(adopted, 'running instance')}`);
    await reportDead(client, home.path, await listOpen(client));
    await pruneInstances(home.path);
    const uiUrl = temporal.isEmbedded
      ? `http://127.0.0.1:${ports.ui}/namespaces/${temporal.namespace}/workflows`
      : null;
    info = { apiUrl, temporalAddress: temporal.address, namespace: temporal.namespace, uiUrl };
    await publish();
    return { ...info, pids: supervisor.pids() };
  }

  async function stop({ keepEarlier }: { keepEarlier: boolean }): Promise<void> {
    const open = info === null || client === null ? 0 : await countOpen(client);
    stopping.abort();
    info = null;
    await rm(home.stackFile, { force: true });
    if (started.includes('api')) await supervisor.stop('api');
    await Promise.all(started.filter((name) => name.startsWith('worker')).map((name) => supervisor.stop(name)));
    // Temporal must be ended in order whatever happens to the instances; those left are adopted by the next start.
    const except = keepEarlier ? earlier : new Set<string>();
    const ended = await endInstances(home.path, { withinMs: 60_000, except }).catch((error: unknown) => {
      say(`could not end every instance: ${String(error)}`);
      return 0;
    });
    if (ended > 0) say(`ended ${plural(ended, 'instance')}`);
    if (keepEarlier) await sayWhatIsLeft();
    await supervisor.stop('temporal');
    await client?.connection.close();
    if (open > 0)
      say(`${plural(open, 'open job')} kept in Temporal: the next start goes on with ${open === 1 ? 'it' : 'them'}`);
  }

  async function sayWhatIsLeft(): Promise<void> {
    const left = await countRunning(home.path);
    if (left === 0) return;
    const [was, them] = left === 1 ? ['was', 'it'] : ['were', 'them'];
    say(`${plural(left, 'instance')} of an earlier stack ${was} left running: the next start adopts ${them}`);
  }

  return { start, stop, killAll: supervisor.killAll };
}

interface ServiceContext {
  config: DevConfig;
  host: Host;
  temporal: Temporal;
  plain: Record<string, string>;
  apiUrl: string;
  port: number;
  bundles: Bundles;
}

function apiServer({ config, host, temporal, plain, apiUrl, port }: ServiceContext): ChildSpec {
  return {
    ...service('api', join(repository, 'api', 'server.ts')),
    env: {
      ...plain,
      ...temporal.env,
      ROPEWALK_PORT: String(port),
      ROPEWALK_PUBLIC_URL: apiUrl,
      ROPEWALK_HOST_ID: host.hostId,
      ROPEWALK_LOG_LEVEL: config.api.logLevel,
      ...config.api.env,
    },
    isHealthy: () => answersOk(`${apiUrl}/healthz`),
  };
}

function temporalWorkers({ config, host, temporal, plain, apiUrl, bundles }: ServiceContext): ChildSpec[] {
  const names = Array.from({ length: config.worker.count }, (_, index) =>
    index === 0 ? 'worker' : `worker-${index + 1}`,
  );
  return names.map((name) => ({
    ...service(name, join(repository, 'worker.ts'), workerOptions),
    env: {
      ...plain,
      ...temporal.env,
      ROPEWALK_API_URL: apiUrl,
      ROPEWALK_HOST_ID: host.hostId,
      ROPEWALK_AGENT_BUNDLE: bundles.agent,
      ROPEWALK_WORKFLOW_BUNDLE: bundles.workflows,
      ROPEWALK_MAX_LOCAL_INSTANCES: String(localInstances(config)),
      ROPEWALK_LOG_LEVEL: config.worker.logLevel,
      // The C library keeps what is free in as many arenas as there were threads: 110 of 130 MB after a thousand jobs.
      MALLOC_ARENA_MAX: '2',
      ...config.worker.env,
    },
  }));
}

/** A young generation that grows as far as Node lets it holds 150 MB of what nobody needs any more; package.json has the same. */
const workerOptions = [
  '--max-semi-space-size=8',
  ...['--import', pathToFileURL(join(repository, 'platform', 'workflow-vm.ts')).href],
];

const service = (name: string, script: string, options: string[] = []): Omit<ChildSpec, 'env'> => ({
  name,
  command: process.execPath,
  args: [...options, script],
  healthyWithinMs: 60_000,
  stopWithinMs: 15_000,
});

/** Without what belongs to npm, to Temporal or to another Ropewalk: children get those from us or not at all. */
function plainEnv(env: Record<string, string>, home: Home): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !/^(npm_|TEMPORAL_|ROPEWALK_)/.test(name));
  return { ...Object.fromEntries(kept), ROPEWALK_HOME: home.path, NODE_COMPILE_CACHE: compileCache };
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

function workerIsSilent(cause: unknown): never {
  if (cause instanceof RopewalkError) throw cause;
  throw new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'no Temporal worker answered',
      hint: 'Its own lines above, which begin with "worker |", usually say why.',
    },
    { cause },
  );
}
