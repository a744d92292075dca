// About once a second: writes to the database which agents this replica has heard, and suspects those that no replica has heard
// for too long. One transaction each, however many agents there are. Only clusters that still count on a silent instance are
// signalled; they ask their provider before they conclude anything.
import { clusterMessages, type ClusterView, clusterWorkflowId, type SuspectSignal } from '../../contracts/cluster.ts';
import { type Clocks, type Listening, listeningForMs, startListening, tick } from '../../domain/liveness/listening.ts';
import type { HeardAgent, SilentAgent } from '../../store/liveness-port.ts';
import type { Deps } from '../context.ts';
import type { HeardAgents } from './heard.ts';

type RoundDeps = Pick<Deps, 'store' | 'workflows' | 'logger' | 'heard'>;

export interface LivenessRounds {
  /** Never rejects. */
  round: (deps: RoundDeps) => Promise<void>;
}

export function createLivenessRounds(clocks: () => Clocks): LivenessRounds {
  let listening: Listening = startListening(clocks());
  return {
    async round(deps) {
      const now = clocks();
      listening = tick(listening, now);
      try {
        await writeHeard(deps.store.liveness, deps.heard);
        await suspectSilent(deps, now.wallMs, listeningForMs(listening));
      } catch (error) {
        // What other replicas heard meanwhile was not written either.
        listening = startListening(now);
        deps.logger.warn({ err: error }, 'the signs of life of agents could not be written or read now');
      }
    },
  };
}

async function writeHeard(liveness: Deps['store']['liveness'], heard: HeardAgents): Promise<void> {
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
  for (const [cluster, silent] of byCluster(taken)) {
    try {
      const instances = await expectedOf(workflows, cluster, silent);
      const rest = silent.filter((each) => !instances.includes(each));
      await store.liveness.delete(
        cluster,
        rest.map(({ instance }) => instance),
      );
      if (instances.length === 0) continue;
      const signal: SuspectSignal = {
        instances: instances.map(({ instance, heardAtMs }) => ({ instance, heardAtMs })),
      };
      await workflows.signal(clusterWorkflowId(cluster), clusterMessages.suspect, signal);
      await store.liveness.putOff(instances, nowMs + remindMs);
      logger.info({ cluster, instances: instances.length }, 'instances have fallen silent');
    } catch (error) {
      logger.warn({ err: error, cluster }, 'a cluster could not be told of silent instances; it is tried again');
    }
  }
}

/** Those that the cluster counts on: instances that have ended are silent too. A query adds no event to its history. */
async function expectedOf(
  workflows: Deps['workflows'],
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

/** In one round: a deployment that comes back after an outage must not ask all its clusters at once. */
const maxAtOnce = 200;
/** A replica that ends while it tells a cluster is replaced by another after this. */
const claimMs = 60_000;
/** A cluster inspects a suspect by itself until it speaks or is lost. This is for a signal that was lost all the same. */
const remindMs = 3_600_000;
