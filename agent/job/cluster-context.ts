// What tasks are told of their cluster: who else is there. The list of a thousand workers is sent once and then only named,
// by a mark that the API has given it.
import type { ExchangeAnswerBody } from '../../schema/agent.ts';

export type Surroundings = Pick<ExchangeAnswerBody, 'taskCount' | 'schedulerAddress' | 'readyWorkers'>;

export interface KnownSurroundings {
  /** Absent before there is a list, and with control planes that give no marks. */
  mark: string | undefined;
  latest: Surroundings;
}

export const unknownSurroundings: KnownSurroundings = {
  mark: undefined,
  latest: { taskCount: 0, schedulerAddress: null, readyWorkers: [] },
};

/** Only answers that grant leases speak of the cluster. */
export function surroundingsAfter(known: KnownSurroundings, answer: ExchangeAnswerBody): KnownSurroundings {
  if (answer.grants.length === 0) return known;
  const { taskCount, schedulerAddress, readyWorkers, addresses } = answer;
  if (addresses !== undefined && addresses === known.mark) return { ...known, latest: { ...known.latest, taskCount } };
  return { mark: addresses, latest: { taskCount, schedulerAddress, readyWorkers } };
}
