// Reads specifications, which were written before admission. Null for a missing one, and for a damaged one, which is reported, because operations
// that need only a part of it must not fail.
import type { Objects } from '../platform/objects/objects.ts';
import { clusterSpec, type ClusterSpec } from '../schema/cluster-spec.ts';
import { jobSpec, type JobSpec } from '../schema/job-spec.ts';
import { type DamageReport, parseObject } from './damaged-objects.ts';

export interface Specs {
  job: (specRef: string) => Promise<JobSpec | null>;
  cluster: (specRef: string) => Promise<ClusterSpec | null>;
}

export function createSpecs(objects: Pick<Objects, 'get'>, report: DamageReport): Specs {
  const read = async <T>(key: string, parse: (json: unknown) => T): Promise<T | null> => {
    const bytes = await objects.get(key);
    return bytes === null ? null : parseObject(key, bytes, { parse, report });
  };
  return {
    job: (specRef) => read(specRef, (json) => jobSpec.parse(json)),
    cluster: (specRef) => read(specRef, (json) => clusterSpec.parse(json)),
  };
}
