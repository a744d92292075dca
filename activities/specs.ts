// Reads specifications, which the API validated and wrote to the object store before admission; only their version is checked here.
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

/** Null for a missing specification, and for a damaged one, which is reported, because retries do not repair it. */
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

/** Vault keys of its sealed data. */
export const sealedRefs = (spec: JobSpec | ClusterSpec): string[] =>
  'caRef' in spec ? [spec.bundleRef, spec.caRef] : [spec.bundleRef];

async function load<T extends JobSpec | ClusterSpec>(objects: Objects, specRef: string): Promise<T> {
  const spec = await readSpec<T>(objects, specRef);
  // Retries do not bring it back.
  if (spec === null)
    throw fatal('SpecMissing', `the specification ${specRef} is missing in the object store, or damaged`);
  const { v }: { v: number } = spec;
  if (v !== 1) throw fatal('SpecVersion', `${specRef} has version ${v}; this Temporal worker reads version 1`);
  return spec;
}

const fatal = (type: string, message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true });
