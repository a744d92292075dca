// Ends whatever of a deployment one provider lists, until nothing is listed any more, and tells what would not go.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Owner } from '../domain/owner.ts';
import { groupByOwner } from '../domain/sweep/decide.ts';
import type { Belonging, ObservedInstance, Provider } from '../providers/provider.ts';

/** This machine, or one region of a cloud. */
export interface Where {
  where: string;
  provider: Provider;
}

export interface Found extends Where {
  instances: ObservedInstance[];
  belongings: Belonging[];
  /** Why it could not be asked for everything; null when it could. */
  problem: string | null;
}

export interface Ended extends Where {
  terminated: string[];
  removed: string[];
  remaining: string[];
  problem: string | null;
}

/** Never rejects: one cloud that cannot be asked must not save what runs elsewhere. */
export async function lookFor({ where, provider }: Where, deploymentId: string): Promise<Found> {
  const found: Found = { where, provider, instances: [], belongings: [], problem: null };
  try {
    found.instances = await provider.list(deploymentId);
    found.belongings = await provider.listBelongings(deploymentId);
  } catch (error) {
    found.problem = textOf(error);
  }
  return found;
}

/** Never rejects. Instances first: what they have left behind is only to be seen when they are gone. */
export async function endAll({ where, provider }: Where, deploymentId: string, signal: AbortSignal): Promise<Ended> {
  const terminated = new Set<string>();
  const removed = new Set<string>();
  let problem: string | null = null;
  try {
    // Two looks in a row that find nothing: an instance may have been on its way up during the first one.
    for (let emptyLooks = 0; emptyLooks < 2; await sleep(betweenLooksMs(provider), undefined, { signal })) {
      const instances = await provider.list(deploymentId);
      await ofEachOwner(instances, terminated, ({ owner, ids }) => provider.terminate(owner, ids, signal));
      const belongings = await provider.listBelongings(deploymentId);
      await ofEachOwner(belongings, removed, ({ owner, ids }) => provider.removeBelongings(owner, ids, signal));
      emptyLooks = instances.length + belongings.length === 0 ? emptyLooks + 1 : 0;
    }
  } catch (error) {
    problem = signal.aborted ? 'they were still there when the time was over' : textOf(error);
  }
  const left = problem === null ? null : await lookFor({ where, provider }, deploymentId);
  const remaining = [...(left?.instances ?? []), ...(left?.belongings ?? [])].map(({ id }) => id);
  return { where, provider, terminated: [...terminated], removed: [...removed], remaining, problem };
}

/** Those that will not go must not save the others; when nothing goes at all, the first reason is thrown. */
async function ofEachOwner(
  things: readonly { id: string; owner: Owner }[],
  done: Set<string>,
  end: (group: { owner: Owner; ids: string[] }) => Promise<void>,
): Promise<void> {
  const groups = groupByOwner(things);
  const outcomes = await Promise.allSettled(
    groups.map(async (group) => {
      await end(group);
      for (const id of group.ids) done.add(id);
    }),
  );
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  if (failures.length > 0 && failures.length === groups.length) throw failures[0]?.reason;
}

/** A cloud shows new instances late. */
const betweenLooksMs = ({ name }: Provider): number => (name === 'local' ? 200 : 2_000);

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
