// What must outlive a workflow's state is written here, before the state drops it. Keys are fixed by number and page, so
// a repeated write replaces itself with the same bytes.
import { ApplicationFailure } from '@temporalio/activity';

import { archiveKey, taskPageKey } from '../platform/archive-keys.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { ArchiveActivities } from '../contracts/activities.ts';

export interface ArchiveDeps {
  objects: Objects;
  vault: Pick<Vault, 'delete'>;
}

export function createArchiveActivities(deps: ArchiveDeps): ArchiveActivities {
  return {
    async loadJob({ specRef }) {
      const spec = await read<JobSpec>(deps, specRef);
      return { settings: spec.settings, bundleRef: spec.bundleRef, createdAtMs: Date.parse(spec.createdAt) };
    },

    async archiveTaskPage({ workspace, job, page, records }) {
      await deps.objects.put(taskPageKey(workspace, job, page), toBytes(records));
    },

    async archiveJob({ view, bundleRef }) {
      await deps.objects.put(archiveKey(view.workspace, 'jobs', view.number), toBytes(view));
      // The bundle holds secrets and nobody may need it any more: agents fetch it before their first task.
      if (bundleRef !== null) await deps.vault.delete(bundleRef);
    },

    async loadCluster({ specRef }) {
      const spec = await read<ClusterSpec>(deps, specRef);
      const { bundleRef, caRef, settings } = spec;
      return { ...settings, dask: { ...settings.dask, bundleRef, caRef } };
    },

    async archiveCluster({ view, secretRefs }) {
      await deps.objects.put(archiveKey(view.workspace, 'clusters', view.number), toBytes(view));
      for (const ref of secretRefs) await deps.vault.delete(ref);
    },
  };
}

function toBytes(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The API validated this document when it wrote it, before admission; here only its version is checked. */
async function read<T extends { v: number }>(deps: ArchiveDeps, specRef: string): Promise<T> {
  const bytes = await deps.objects.get(specRef);
  // When it is missing, waiting does not bring it back.
  if (bytes === null) throw fatal('SpecMissing', `the specification ${specRef} is not in the object store`);
  const spec: T = JSON.parse(new TextDecoder().decode(bytes));
  if (spec.v !== 1) throw fatal('SpecVersion', `${specRef} has version ${spec.v}; this Temporal worker reads 1`);
  return spec;
}

function fatal(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
