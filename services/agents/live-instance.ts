// Whether an instance is still part of its cluster. Its token proves only that it was, and outlives it by up to two hours. Its workflow judges an
// instance's reports and exchanges; its reads and large bodies are judged here.
import type { ClusterView, InstanceView } from '../../contracts/cluster.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { InstanceContext } from '../context.ts';

export interface LiveInstance {
  view: ClusterView;
  /** Null once the whole cluster stops or has ended; each route reports that in its own way. */
  instance: InstanceView | null;
}

/**
 * Uses a view of at most `maxAgeMs`, and a new one when the instance is not in it, because it may have just registered through another replica.
 * Throws FORBIDDEN when the cluster has given the instance up, NOT_FOUND when there is no such cluster, and UNAVAILABLE when an outage hides which of
 * the two.
 */
export async function requireLive({ deps, actor }: InstanceContext, maxAgeMs: number): Promise<LiveInstance> {
  const { workspace, cluster, instance: id } = actor;
  const known = await deps.views.clusterOfAgent(workspace, cluster, maxAgeMs);
  const before = judge(known, id);
  if (before !== 'unknown') return { view: known, instance: before };
  deps.views.expire(cluster);
  const { view, staleSinceMs } = await deps.views.cluster(workspace, cluster);
  const now = judge(view, id);
  if (now !== 'unknown') return { view, instance: now };
  throw staleSinceMs === null ? givenUp(id, cluster) : unsure(id);
}

/** Called before a large body is read. The agents of a stopping cluster still deliver results. */
export async function requireLiveOrStopping(context: InstanceContext): Promise<void> {
  const { view, instance } = await requireLive(context, knownMaxAgeMs);
  if (instance === null && view.status !== 'stopping') throw givenUp(context.actor.instance, context.actor.cluster);
}

const knownMaxAgeMs = 5_000;

function judge(view: ClusterView, id: string): InstanceView | null | 'unknown' {
  if (view.endedAtMs !== null || closing.has(view.status)) return null;
  return view.instances.find((each) => each.id === id && !ended.has(each.state)) ?? 'unknown';
}

const closing = new Set<ClusterView['status']>(['stopping', 'stopped', 'error']);
const ended = new Set<InstanceView['state']>(['stopping', 'error']);

const givenUp = (id: string, cluster: number) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `Instance ${id} is no longer part of cluster ${cluster}.`,
    hint: 'This agent should end.',
  });

const unsure = (id: string) =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: `Whether instance ${id} is part of its cluster cannot be read now.`,
      hint: 'Try again.',
    },
    { retryAfterMs: 1_000 },
  );
