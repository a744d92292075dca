// What the sweep must know: whose the namespace is, which clusters are open, and what its last run saw. It asks each
// workflow itself and never visibility, which lags behind.
import type { Client } from '@temporalio/client';

import { sweepDescribeAtOnce } from '../domain/limits.ts';
import type { Sighting, SweepObservation } from '../domain/sweep/state.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { clusterWorkflowId } from '../workflows/cluster/messages.ts';
import { heartbeating } from './heartbeating.ts';
import { deploymentOf, presenceOf } from './presence.ts';

export interface SweepActivities {
  /** Never rejects for one cluster: what could not be described is `unknown`. */
  describeClusters(input: { numbers: number[] }): Promise<Omit<SweepObservation, 'instances' | 'belongings'>>;
  readSightings(input: { memory: string }): Promise<{ sightings: Sighting[] }>;
  writeSightings(input: { memory: string; sightings: Sighting[] }): Promise<void>;
}

export function createSweepActivities(deps: { client: Client; objects: Objects }): SweepActivities {
  return {
    async describeClusters({ numbers }) {
      return heartbeating(async () => {
        const clusters: SweepObservation['clusters'] = [];
        for (let from = 0; from < numbers.length; from += sweepDescribeAtOnce) {
          const batch = numbers.slice(from, from + sweepDescribeAtOnce);
          const states = await Promise.all(batch.map((number) => presenceOf(deps.client, clusterWorkflowId(number))));
          for (const [index, number] of batch.entries()) clusters.push({ number, state: states[index] ?? 'unknown' });
        }
        // Last, so that it is still the same namespace after all that was learned from it.
        return { deploymentInTemporal: await deploymentOf(deps.client), clusters };
      });
    },

    async readSightings({ memory }) {
      const bytes = await deps.objects.get(memory);
      return { sightings: bytes === null ? [] : parseSightings(new TextDecoder().decode(bytes)) };
    },

    async writeSightings({ memory, sightings }) {
      await deps.objects.put(memory, new TextEncoder().encode(JSON.stringify({ v: 1, sightings })));
    },
  };
}

/** A memory that cannot be read is no memory: everything is then seen for the first time, which ends nobody too early. */
function parseSightings(text: string): Sighting[] {
  try {
    const stored: unknown = JSON.parse(text);
    if (typeof stored !== 'object' || stored === null || !('sightings' in stored)) return [];
    return Array.isArray(stored.sightings) ? stored.sightings.filter(isSighting) : [];
  } catch {
    return [];
  }
}

const isSighting = (value: unknown): value is Sighting =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  'firstSeenMs' in value &&
  typeof value.firstSeenMs === 'number';
