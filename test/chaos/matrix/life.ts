// One life of the matrix: its scenario, its planned faults, and how its steps wait.
import { eventually } from '../../support/eventually.ts';
import type { Bed } from './bed.ts';
import type { Fault } from './faults.ts';

export interface Life {
  id: string;
  scenario: Scenario;
  faults: Fault[];
  /** The number of its job or cluster, or the id of its run; empty until it has one. */
  key: string;
  /** The matrix stopped it at a boundary: from then on it only has to end. */
  isStopped: boolean;
  isUnderWay: boolean;
}

export type Scenario = 'grow' | 'stop' | 'recover' | 'dask' | 'sweep' | 'stuck-workflows';

export const isOfACluster = (scenario: Scenario): boolean => ['grow', 'stop', 'recover', 'dask'].includes(scenario);

/** Longer than the possible sum of the timeouts and pauses that a life's few faults cause. */
export const stepWithinMs = 120_000;

export function begin(bed: Bed, life: Life, key: string): void {
  life.key = key;
  bed.files.writePlan(key, life.faults);
}

export async function wait(
  life: Life,
  what: string,
  isSo: () => Promise<boolean>,
  { alsoWhenStopped = false }: { alsoWhenStopped?: boolean } = {},
): Promise<void> {
  await eventually(async () => (life.isStopped && !alsoWhenStopped) || (await isSo()), {
    timeoutMs: stepWithinMs,
    intervalMs: 200,
  }).catch((cause: unknown) => {
    throw new Error(`not within ${stepWithinMs / 1000} s: ${what} (${cause instanceof Error ? cause.message : ''})`, {
      cause,
    });
  });
}
