// Terminates everything that one provider lists for a deployment, until the list is empty, and reports the rest.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Owner } from '../domain/owner.ts';
import { groupByOwner } from '../domain/sweep/decide.ts';
import type { Configured } from '../providers/manifests.ts';
import type { CloudResource, ObservedInstance, Provider } from '../providers/provider.ts';

/** This machine, or one region of a cloud. */
export interface Where {
  where: string;
  provider: Provider;
  /** Whether a failed request should be repeated. */
  mayPass: (error: unknown) => boolean;
  /** The delay between two lists, because a cloud shows new instances late. */
  betweenListsMs: number;
}

export interface Found extends Where {
  instances: ObservedInstance[];
  resources: CloudResource[];
  /** Why the lists are incomplete; null when they are complete. */
  problem: string | null;
  /** Whether a retry may complete them. */
  isPassing: boolean;
}

export interface Ended extends Where {
  terminated: string[];
  removed: string[];
  remaining: string[];
  problem: string | null;
}

/** This machine, or each configured region of a cloud. */
export async function placesOf({ manifest, provider }: Configured): Promise<Where[]> {
  const betweenListsMs = manifest.kind === 'host' ? 200 : 2_000;
  const placed = await provider.terminators();
  return placed.map(({ place, provider: terminator }) => ({
    where: place.region ?? manifest.title,
    provider: terminator,
    mayPass: manifest.mayPass,
    betweenListsMs,
  }));
}

/** Never rejects: a cloud that does not answer must not keep instances elsewhere alive. */
export async function listAll(place: Where, deploymentId: string): Promise<Found> {
  const { provider } = place;
  const found: Found = { ...place, instances: [], resources: [], problem: null, isPassing: false };
  try {
    found.instances = await provider.list(deploymentId);
    found.resources = await provider.listResources(deploymentId);
  } catch (error) {
    found.problem = textOf(error);
    found.isPassing = place.mayPass(error);
  }
  return found;
}

/**
 * Never rejects. Retries temporary refusals until the limit. Ends instances first, because a cloud lists their volumes as
 * unused only after they are terminated.
 */
export async function endAll(place: Where, deploymentId: string, signal: AbortSignal): Promise<Ended> {
  const { provider } = place;
  const terminated = new Set<string>();
  const removed = new Set<string>();
  let problem: string | null = null;
  let lastFailure: string | null = null;
  const round = async (): Promise<number> => {
    const instances = await provider.list(deploymentId);
    await ofEachOwner(instances, terminated, ({ owner, ids }) => provider.terminate(owner, ids, signal));
    const resources = await provider.listResources(deploymentId);
    await ofEachOwner(resources, removed, ({ owner, ids }) => provider.deleteResources(owner, ids, signal));
    return instances.length + resources.length;
  };
  try {
    // Requires two empty lists in a row: an instance may have been starting during the first one.
    for (let emptyLists = 0; emptyLists < 2; await sleep(place.betweenListsMs, undefined, { signal })) {
      try {
        emptyLists = (await round()) === 0 ? emptyLists + 1 : 0;
        lastFailure = null;
      } catch (error) {
        if (signal.aborted || !place.mayPass(error)) throw error;
        emptyLists = 0;
        lastFailure = textOf(error);
      }
    }
  } catch (error) {
    const atLimit = lastFailure ?? 'they still existed when the time limit was reached';
    problem = signal.aborted ? atLimit : textOf(error);
  }
  const left = problem === null ? null : await listAll(place, deploymentId);
  const remaining = [...(left?.instances ?? []), ...(left?.resources ?? [])].map(({ id }) => id);
  return { ...place, terminated: [...terminated], removed: [...removed], remaining, problem };
}

/** A failed group does not stop the others; when every group fails, the first error is thrown. */
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

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
