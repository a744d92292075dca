// The cluster's facts for tasks: the addresses of its other instances. The list of a thousand workers is sent once and then
// only named, by a tag that the API returned with it.
import { lookup } from 'node:dns/promises';

import type { ExchangeAnswerBody } from '../../schema/agent.ts';

export type ClusterContext = Pick<
  ExchangeAnswerBody,
  'taskCount' | 'schedulerAddress' | 'schedulerHostname' | 'readyWorkers'
>;

export interface KnownClusterContext {
  /** The API's tag of the list; absent before the first list, and with control planes without tags. */
  mark: string | undefined;
  latest: ClusterContext;
}

export const unknownClusterContext: KnownClusterContext = {
  mark: undefined,
  latest: { taskCount: 0, schedulerAddress: null, schedulerHostname: null, readyWorkers: [] },
};

/** Only answers that grant leases contain the cluster context. */
export function clusterContextAfter(known: KnownClusterContext, answer: ExchangeAnswerBody): KnownClusterContext {
  if (answer.grants.length === 0) return known;
  const { taskCount, schedulerAddress, schedulerHostname, readyWorkers, addresses } = answer;
  if (addresses !== undefined && addresses === known.mark) return { ...known, latest: { ...known.latest, taskCount } };
  return { mark: addresses, latest: { taskCount, schedulerAddress, schedulerHostname, readyWorkers } };
}

/** Keeps the head instance's name only if it resolves on this instance: a network may have no names. */
export async function withResolvableName(
  known: KnownClusterContext,
  before: KnownClusterContext,
): Promise<KnownClusterContext> {
  const { schedulerHostname: name } = known.latest;
  if (known.mark === before.mark || name === null) return known;
  const resolves = await Promise.race([lookup(name).then(() => true), noAnswer()]).catch(() => false);
  return resolves ? known : { ...known, latest: { ...known.latest, schedulerHostname: null } };
}

/** Longest that a task waits for the resolver. */
const maxLookupMs = 1_000;

const noAnswer = (): Promise<boolean> =>
  new Promise((resolve) => {
    setTimeout(resolve, maxLookupMs, false).unref();
  });
