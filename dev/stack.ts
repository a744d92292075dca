// The one-machine stack: starts its processes in order, and ends them in reverse order. `stop` ends everything that runs at
// that moment. Only the home directory remains.
import { rm } from 'node:fs/promises';

import { Client, type Connection } from '@temporalio/client';

import { namespaceOwner } from '../platform/namespace-claim.ts';
import { enabledProviders } from '../providers/manifests.ts';
import { openDatabase } from '../ops/database.ts';
import { writeJson } from '../ops/files.ts';
import { loadHost } from '../ops/host.ts';
import { prepareKeys } from '../ops/keys.ts';
import { type Consent, forgetNamespace } from '../ops/init/new-namespace.ts';
import { prepareTemporal } from '../ops/init/prepare.ts';
import { countOpenJobs, listOpenNumbers } from '../ops/open-work.ts';
import { plural } from '../ops/plural.ts';
import { endSurvivors } from '../ops/processes.ts';
import type { Keys } from '../platform/keys.ts';
import { readBucket } from '../platform/objects/location.ts';
import { listInstanceIds } from '../providers/local/files.ts';
import type { Store } from '../store/store.ts';
import { buildBundles } from './build.ts';
import { type DevConfig, prepareSettings } from './config.ts';
import { guardDatabase } from './database-version.ts';
import { ensureUserConfig } from './first-run.ts';
import { type Home, makePrivate } from './home.ts';
import { countRunning, endInstances, pruneInstances, reportDead } from './instances.ts';
import { choosePorts, type Ports } from './ports.ts';
import { addKnownWorkflows, endLostWork } from './reconcile-at-start.ts';
import { apiServer, ignoredProviders, plainEnv, temporalWorkers } from './services.ts';
import { type ChildSpec, createSupervisor } from './supervisor.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { embeddedTemporal, externalTemporal, requireExternal, type Temporal, temporalServer } from './temporal.ts';
import { moveUnfinishedAside } from './unfinished-database.ts';

export interface StackOptions {
  home: Home;
  config: DevConfig;
  env: Record<string, string>;
  say: (line: string) => void;
  /** Set when the Temporal namespace of the database is lost. */
  newNamespace: Consent | null;
}

/** $HOME/run/stack.json: exists only while the stack is ready. */
export interface StackInfo {
  apiUrl: string;
  temporalAddress: string;
  namespace: string;
  uiUrl: string | null;
  pids: Record<string, number>;
}

export type Kept = 'none' | 'earlier' | 'all';

export interface Stack {
  start: () => Promise<StackInfo>;
  /** `keep`: the instances that continue, for the next start to adopt. `earlier`: those that ran before this start. */
  stop: (options: { keep: Kept }) => Promise<void>;
  /** Kills at once, in no order; instances keep running and are adopted by the next start. */
  killAll: () => void;
}

export function createStack(options: StackOptions): Stack {
  const { home, config, env, say, newNamespace } = options;
  let info: Omit<StackInfo, 'pids'> | null = null;
  let client: Client | null = null;
  let store: Store | null = null;
  let earlier: ReadonlySet<string> = new Set();
  let isStopping = false;
  const started: string[] = [];
  const supervisor = createSupervisor({ runDir: home.runDir, say, onSpawn: () => void publish() });

  async function publish(): Promise<void> {
    if (info !== null) await writeJson(home.stackFile, { ...info, pids: { dev: process.pid, ...supervisor.pids() } });
  }

  async function run(spec: ChildSpec): Promise<void> {
    if (isStopping) throw stoppedInStart();
    started.push(spec.name);
    await supervisor.start(spec);
  }

  async function start(): Promise<StackInfo> {
    earlier = new Set(await listInstanceIds(home.path));
    await rm(home.stackFile, { force: true });
    const survivors = await endSurvivors(home.path, home.runDir);
    if (survivors.length > 0) say(`ended what an earlier stack left running: ${survivors.join(', ')}`);
    const host = await loadHost(home.path);
    const database = await openDatabase({ env, home: home.path, host });
    ({ store } = database);
    // Reports a missing or damaged file now: the API, which reads it too, would only be restarted again and again.
    const { keys } = await prepareKeys(
      { home: home.path, keysSecret: null },
      { deploymentId: host.deploymentId, deployment: store.deployment, bucket: readBucket(env) },
    );
    const external = externalTemporal(env, config);
    const ports = await choosePorts(home.path, config.ports, external === null);
    const temporal = external ?? embeddedTemporal(ports, config);
    const { namespace } = temporal;
    const connection = temporal.connect();
    client = new Client({ connection, namespace });
    const building = buildBundles();
    // Awaited below; until then a failure must not count as unhandled.
    building.catch(() => undefined);
    const plain = plainEnv(env, home.path);
    if (temporal.isEmbedded) await startTemporal(ports, plain, connection);
    else await requireExternal(temporal, connection);
    const providers = enabledProviders({ env: config.worker.env, home: home.path, hostId: host.hostId }, true);
    const names = providers.map(({ manifest }) => manifest.name);
    const ignored = ignoredProviders(env, names);
    if (ignored !== null) say(ignored);
    const settings = prepareSettings(config);
    const { address } = temporal;
    const claimant = { host, home: home.path };
    const forgotten =
      newNamespace === null ? [] : await forgetNamespace({ ...claimant, ...newNamespace, client, address, store, say });
    forgotten.forEach(say);
    const wasClaimed = (await namespaceOwner(client)) !== null;
    const { deployment } = store;
    await prepareTemporal({
      ...{ replacesLost: forgotten.length > 0, warn: say },
      ...{ ...claimant, connection, client, namespace, deployment, providers, settings },
    });

    const apiUrl = `http://127.0.0.1:${ports.api}`;
    const pidOf = (name: string): number | undefined => supervisor.pids()[name];
    const bundles = await building;
    const context = {
      config,
      host,
      temporal,
      client,
      plain: { ...plain, ROPEWALK_PROVIDERS: names.join(',') },
      apiUrl,
      port: ports.api,
      dashboardPort: ports.dashboards,
      bundles,
      pidOf,
    };
    const workers = Promise.all(temporalWorkers(context).map(run));
    const requireStarting = (): void => {
      if (isStopping) throw stoppedInStart();
    };
    const comparing = { client, say, requireStarting, database: home.database };
    if (database.isNew && wasClaimed) {
      // Before the API assigns numbers of workflows from an earlier database.
      await workers;
      await addKnownWorkflows(comparing);
    }
    if (forgotten.length > 0) {
      // Before agents find the API again: their jobs and clusters have no workflow.
      await workers;
      await endLostWork(comparing);
    }
    await Promise.all([workers, run(apiServer(context))]);
    await writeUserConfig(store, { keys, apiUrl });
    await takeOverInstances(store, client);
    if (isStopping) throw stoppedInStart();
    info = {
      apiUrl,
      temporalAddress: temporal.address,
      namespace,
      uiUrl: config.temporal.ui ? uiOf(temporal, ports) : null,
    };
    await publish();
    return { ...info, pids: supervisor.pids() };
  }

  async function startTemporal(ports: Ports, plain: Record<string, string>, connection: Connection): Promise<void> {
    const binary = await findTemporalBinary({ env, say });
    await guardDatabase(home.database, binary);
    const aside = await moveUnfinishedAside(home.database);
    if (aside !== null) say(`Temporal's database was never finished: it is now ${aside}, and a new one is made`);
    await run(temporalServer({ binary, home, ports, config, env: plain, connection }));
    await makePrivate(home.database);
  }

  async function writeUserConfig(records: Store, to: { keys: Keys; apiUrl: string }): Promise<void> {
    const outcome = await ensureUserConfig(records, { ...to, configFile: home.configFile });
    if (outcome !== 'replaced') return;
    say(`the database does not accept the token in ${home.configFile} (unknown, revoked or expired): it has a new one`);
  }

  async function takeOverInstances(records: Store, temporal: Client): Promise<void> {
    const adopted = await countRunning(home.path);
    if (adopted > 0) say(`adopted ${plural(adopted, 'running instance')}`);
    await reportDead(temporal, home.path, await listOpenNumbers(records));
    await pruneInstances(home.path);
  }

  async function stop({ keep }: { keep: Kept }): Promise<void> {
    // Only for the message: an unresponsive database must not prevent the stack from ending.
    const wasReady = info !== null;
    const open = !wasReady || store === null ? 0 : await countOpenJobs(store).catch(() => 0);
    isStopping = true;
    info = null;
    await rm(home.stackFile, { force: true });
    if (started.includes('api')) await supervisor.stop('api');
    await Promise.all(started.filter((name) => name.startsWith('worker')).map((name) => supervisor.stop(name)));
    // Temporal must be shut down whatever happens to the instances; remaining ones are adopted by the next start.
    if (keep !== 'all') {
      const except = keep === 'earlier' ? earlier : new Set<string>();
      const ended = await endInstances(home.path, { withinMs: 60_000, except }).catch((error: unknown) => {
        say(`could not end every instance: ${String(error)}`);
        return 0;
      });
      if (ended > 0) say(`ended ${plural(ended, 'instance')}`);
    }
    if (keep !== 'none') await sayWhatIsLeft(keep === 'earlier' ? ' of an earlier stack' : '');
    await supervisor.stop('temporal');
    // Timers repeat the calls of an unfinished start, and a repeat on a closed connection fails the process.
    if (wasReady) await client?.connection.close();
    await store?.close();
    if (open > 0)
      say(`${plural(open, 'open job')} kept in Temporal: the next start goes on with ${open === 1 ? 'it' : 'them'}`);
  }

  async function sayWhatIsLeft(whose: string): Promise<void> {
    const left = await countRunning(home.path);
    if (left === 0) return;
    const [was, them] = left === 1 ? ['was', 'it'] : ['were', 'them'];
    say(`${plural(left, 'instance')}${whose} ${was} left running: the next start adopts ${them}`);
  }

  return { start, stop, killAll: supervisor.killAll };
}

const stoppedInStart = (): Error => new Error('the stack was stopped while it started');

const uiOf = ({ isEmbedded, namespace }: Temporal, ports: Ports): string | null =>
  isEmbedded ? `http://127.0.0.1:${ports.ui}/namespaces/${namespace}/workflows` : null;
