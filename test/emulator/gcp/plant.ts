// Resources as if a user had created them long ago: instances, disks and firewall rules, with any labels and any age, and images.
import { z } from 'zod';

import type { EmulatedProject } from './project.ts';
import { digits } from './project.ts';

export const plantable = {
  kind: z.enum(['instance', 'disk', 'firewall rule', 'image']),
  name: z.string(),
  zone: z.string().default('us-central1-a'),
  labels: z.record(z.string(), z.string()).default({}),
  /** For a firewall rule, which has no labels. */
  description: z.string().default(''),
  ageMs: z.number().default(0),
  image: z
    .object({
      family: z.string().nullable().default(null),
      architecture: z.enum(['X86_64', 'ARM64']).default('X86_64'),
      status: z.enum(['READY', 'PENDING', 'FAILED']).default('READY'),
      deprecated: z.enum(['DEPRECATED', 'OBSOLETE']).nullable().default(null),
    })
    .prefault({}),
};
type Plantable = z.infer<z.ZodObject<typeof plantable>>;

/** Returns the id by which Ropewalk knows the resource. */
export function plant(
  project: EmulatedProject,
  { kind, name, zone, labels, description, ageMs, image }: Plantable,
): { id: string } {
  const createdAtMs = project.clock.nowMs() - ageMs;
  if (kind === 'disk') {
    project.disks.set(`${zone}/${name}`, { name, zone, labels, createdAtMs });
    return { id: `${zone}/${name}` };
  }
  if (kind === 'image') {
    project.images.set(name, { name, ...image });
    return { id: name };
  }
  if (kind === 'firewall rule') {
    const rule = {
      sourceRanges: ['198.51.100.0/24'],
      sourceTags: [],
      targetTags: [name],
      protocol: 'tcp',
      ports: ['22'],
    };
    project.firewalls.set(name, { name, description, network: 'global/networks/ropewalk', ...rule, createdAtMs });
    return { id: name };
  }
  const instance = project.launch({
    ...{ name, zone, requestId: digits(8), machineType: 'n2-standard-2', diskType: 'pd-balanced', market: 'on-demand' },
    ...{ accelerator: null, labels, metadata: {}, serviceAccount: null, networkTags: [], maxRunSeconds: null },
    subnetwork: 'ropewalk',
    hasPublicIp: false,
  });
  instance.createdAtMs = createdAtMs;
  return { id: name };
}
