// Specifications, as the API wrote them to the object store before admission. It validated them then; here only their version
// is checked.
import { ApplicationFailure, log } from '@temporalio/activity';

import type { SpecActivities } from '../contracts/activities.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';

export function createSpecActivities({ objects }: { objects: Objects }): SpecActivities {
  return {
    async loadJob({ specRef }) {
      const { settings, bundleRef, createdAt } = await load<JobSpec>(objects, specRef);
      return { settings, bundleRef, createdAtMs: Date.parse(createdAt) };
    },

    async loadCluster({ specRef }) {
      const { bundleRef, caRef, settings } = await load<ClusterSpec>(objects, specRef);
      return { ...settings, dask: { ...settings.dask, bundleRef, caRef } };
    },
  };
}

/** Null when it does not exist any more, and for a damaged one, which is reported: retries do not repair it. */
export async function readSpec<T extends JobSpec | ClusterSpec>(objects: Objects, specRef: string): Promise<T | null> {
  const bytes = await objects.get(specRef);
  if (bytes === null) return null;
  try {
    const spec: T = JSON.parse(new TextDecoder().decode(bytes));
    return spec;
  } catch (error) {
    log.error('a specification is damaged: restore it from a backup of the object store', { specRef, error });
    return null;
  }
}

/** Vault keys of what is sealed for it. */
export const sealedRefs = (spec: JobSpec | ClusterSpec): string[] =>
  'caRef' in spec ? [spec.bundleRef, spec.caRef] : [spec.bundleRef];

async function load<T extends JobSpec | ClusterSpec>(objects: Objects, specRef: string): Promise<T> {
  const spec = await readSpec<T>(objects, specRef);
  // Waiting does not bring it back.
  if (spec === null)
    throw fatal('SpecMissing', `the specification ${specRef} is missing in the object store, or damaged`);
  const { v }: { v: number } = spec;
  if (v !== 1) throw fatal('SpecVersion', `${specRef} has version ${v}; this Temporal worker reads version 1`);
  return spec;
}

const fatal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });
