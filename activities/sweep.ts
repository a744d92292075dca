// Facts for the sweep: the owner of the namespace, the open clusters, and the sightings of the last run. It asks about each workflow itself, never
// visibility, which lags. It also deletes expired sealed objects.
import type { Client } from '@temporalio/client';

import { expiredKeptMs, maxExpiredBytes, maxExpiredPerRound, sweepDescribeAtOnce } from '../domain/sweep/limits.ts';
import type { Sighting, SweepObservation } from '../domain/sweep/state.ts';
import { sealedPrefix } from '../platform/archive-keys.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { removeExpired } from '../platform/vault/remove-expired.ts';
import { clusterWorkflowId } from '../contracts/cluster.ts';
import type { SweepActivities } from '../contracts/activities.ts';
import { heartbeating } from './heartbeating.ts';
import { deploymentOf, presenceOf } from './presence.ts';

export function createSweepActivities(deps: { client: Client; objects: Objects; now?: () => number }): SweepActivities {
  const { client, objects, now = Date.now } = deps;
  // Where the next round begins. After a restart of this process, some objects are examined twice.
  let after = '';
  return {
    async describeClusters({ numbers }) {
      return heartbeating(async () => {
        const clusters: SweepObservation['clusters'] = [];
        for (let from = 0; from < numbers.length; from += sweepDescribeAtOnce) {
          const batch = numbers.slice(from, from + sweepDescribeAtOnce);
          const states = await Promise.all(batch.map((number) => presenceOf(client, clusterWorkflowId(number))));
          for (const [index, number] of batch.entries()) clusters.push({ number, state: states[index] ?? 'unknown' });
        }
        // Last, so all answers above certainly came from this namespace.
        return { deploymentInTemporal: await deploymentOf(client), clusters };
      });
    },

    async removeExpiredSealed() {
      const bounds = { maxKeys: maxExpiredPerRound, maxBytes: maxExpiredBytes };
      const round = { prefix: sealedPrefix, after, beforeMs: now() - expiredKeptMs, ...bounds };
      await heartbeating(async () => {
        try {
          ({ after } = await removeExpired(objects, round));
        } catch {
          // The store cannot be listed now. That must not fail a sweep of instances; the next sweep tries again.
        }
      });
    },

    async readSightings({ memory }) {
      const bytes = await objects.get(memory);
      return { sightings: bytes === null ? [] : parseSightings(new TextDecoder().decode(bytes)) };
    },

    async writeSightings({ memory, sightings }) {
      await objects.put(memory, new TextEncoder().encode(JSON.stringify({ v: 1, sightings })));
    },
  };
}

/** Sightings that cannot be parsed count as none: every orphan is then seen for the first time, so no instance is terminated too early. */
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
