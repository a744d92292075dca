// Two loops, about once a second each: one writes to the database which agents this replica has heard; the other suspects agents that no replica has
// heard for too long. One transaction each, for any number of agents. Only clusters with a live but silent instance are signalled; they ask their
// provider before they decide.
import { clusterMessages, type ClusterView, clusterWorkflowId, type SuspectSignal } from '../../contracts/cluster.ts';
import {
  type Clocks,
  isListening,
  type Listening,
  listeningForMs,
  startListening,
  tick,
} from '../../domain/liveness/listening.ts';
import { isSilenceKnown, replicaNoteEveryMs } from '../../domain/liveness/replicas.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import type { HeardAgent, SilentAgent } from '../../store/liveness-port.ts';
import type { CompletePorts } from '../ports.ts';
import type { HeardAgents } from './heard.ts';

type RoundDeps = Pick<CompletePorts, 'store' | 'workflows' | 'logger'> & { heard: HeardAgents };

export interface LivenessRounds {
  /** Notes that this replica is listening, and writes which agents it has heard. Never rejects. */
  listen: (deps: RoundDeps) => Promise<void>;
  /** Suspects silent agents. Runs in its own loop: slow clusters must not count as time in which no agent was heard. Never rejects. */
  suspect: (deps: RoundDeps) => Promise<void>;
  /** Notes the orderly end of this replica, which hears no agent any more. Never rejects. */
  end: (deps: RoundDeps) => Promise<void>;
}

/** `replica`: the name of this process among the replicas; its successor has the same name. */
export function createLivenessRounds(clocks: () => Clocks, replica: string): LivenessRounds {
  let listening: Listening = startListening(clocks());
  let noted: { atMs: number; sinceMs: number } | null = null;
  /** After writing the heard agents: the row confirms that nothing newer is held in memory. */
  const noteReplica = async ({ store }: RoundDeps): Promise<void> => {
    const { monotonicMs } = clocks();
    const { sinceMs } = listening;
    if (noted?.sinceMs === sinceMs && monotonicMs - noted.atMs < replicaNoteEveryMs) return;
    await store.liveness.noteReplica(replica, Math.max(0, Math.round(monotonicMs - sinceMs)));
    noted = { atMs: monotonicMs, sinceMs };
  };
  const fail = (deps: RoundDeps, error: unknown): void => {
    // Other replicas' notes could not be written meanwhile either.
    listening = startListening(clocks());
    deps.logger.warn({ err: error }, 'the signs of life of agents could not be written or read now');
  };
  return {
    async listen(deps) {
      listening = tick(listening, clocks());
      try {
        await writeHeard(deps.store.liveness, deps.heard);
        await noteReplica(deps);
      } catch (error) {
        fail(deps, error);
      }
    },
    async end(deps) {
      await writeHeard(deps.store.liveness, deps.heard)
        .then(() => deps.store.liveness.removeReplica(replica))
        .catch((error: unknown) => deps.logger.warn({ err: error }, 'the end of this replica could not be written'));
    },
    async suspect(deps) {
      const now = clocks();
      const listeningMs = listeningForMs(listening);
      if (!isListening(listening, now) || !isSilenceKnown(0, listeningMs)) return;
      await suspectSilent(deps, now.wallMs, listeningMs).catch((error: unknown) => fail(deps, error));
    },
  };
}

async function writeHeard(liveness: CompletePorts['store']['liveness'], heard: HeardAgents): Promise<void> {
  const { items, noted } = heard.takeDue();
  if (items.length === 0) return;
  await liveness.note(items);
  noted();
  for (const [cluster, instances] of byCluster(items.filter(({ silentAfterMs }) => silentAfterMs === null))) {
    const rows = await liveness.read(
      cluster,
      instances.map(({ instance }) => instance),
    );
    for (const { instance, silentAfterMs } of rows) heard.learn(cluster, instance, silentAfterMs);
  }
}

async function suspectSilent(
  { store, workflows, logger }: RoundDeps,
  nowMs: number,
  listeningMs: number,
): Promise<void> {
  const againAtMs = nowMs + claimMs;
  const taken = await store.liveness.takeSilent({ nowMs, listeningMs, againAtMs, limit: maxAtOnce });
  const clusters = [...byCluster(taken)];
  const suspectIn = async ([cluster, silent]: [number, SilentAgent[]]): Promise<void> => {
    try {
      const instances = await expectedOf(workflows, cluster, silent);
      const rest = silent.filter((each) => !instances.includes(each));
      await store.liveness.delete(
        cluster,
        rest.map(({ instance }) => instance),
      );
      if (instances.length === 0) return;
      const signal: SuspectSignal = {
        instances: instances.map(({ instance, heardAtMs }) => ({ instance, heardAtMs })),
      };
      await workflows.signal(clusterWorkflowId(cluster), clusterMessages.suspect, signal);
      await store.liveness.putOff(instances, nowMs + remindMs);
      logger.info({ cluster, instances: instances.length }, 'instances have fallen silent');
    } catch (error) {
      logger.warn({ err: error, cluster }, 'a cluster was not notified of silent instances; it is tried again');
    }
  };
  await mapAtOnce(clusters, clustersAtOnce, suspectIn);
}

/** Only live instances of the cluster, because ended instances are silent too. A query adds no history event. */
async function expectedOf(
  workflows: CompletePorts['workflows'],
  cluster: number,
  silent: readonly SilentAgent[],
): Promise<SilentAgent[]> {
  const read = await workflows.query<ClusterView>(clusterWorkflowId(cluster), clusterMessages.view);
  if (read.kind !== 'value') return [];
  const counted = read.value.instances.filter(({ state }) => state === 'ready').map(({ id }) => id);
  return silent.filter(({ instance }) => counted.includes(instance));
}

function byCluster<T extends Pick<HeardAgent, 'cluster'>>(items: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) groups.set(item.cluster, [...(groups.get(item.cluster) ?? []), item]);
  return groups;
}

/** Maximum in one round: after an outage, a deployment must not query all its clusters at once. */
const maxAtOnce = 200;
const clustersAtOnce = 10;
/** When a replica ends while it notifies a cluster, another takes over after this time. */
const claimMs = 60_000;
/** A cluster inspects a suspect on its own until it reports or is lost. This reminder repeats a lost signal. */
const remindMs = 3_600_000;
