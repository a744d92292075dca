// Specifications as they were written before admission. Null when there is none any more.
import type { Objects } from '../platform/objects/objects.ts';
import { clusterSpec, type ClusterSpec } from '../schema/cluster-spec.ts';
import { jobSpec, type JobSpec } from '../schema/job-spec.ts';

type Store = Pick<Objects, 'get'>;

export async function readJobSpec(objects: Store, specRef: string): Promise<JobSpec | null> {
  const value = await readJson(objects, specRef);
  return value === null ? null : jobSpec.parse(value);
}

export async function readClusterSpec(objects: Store, specRef: string): Promise<ClusterSpec | null> {
  const value = await readJson(objects, specRef);
  return value === null ? null : clusterSpec.parse(value);
}

async function readJson(objects: Store, key: string): Promise<unknown> {
  const bytes = await objects.get(key);
  return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString('utf8'));
}
