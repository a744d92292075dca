// Named environments. A cluster or job that names one gets a copy of its content at that time.
import { z } from 'zod';

import { nameInput } from './common.ts';
import { containerInput } from './container.ts';
import { software } from './software.ts';

export const environmentParams = z.object({ environment: nameInput });

/** Either a Python environment or a container. */
export const putEnvironment = z.strictObject({ software: software.optional(), ...containerInput });
export type PutEnvironment = z.input<typeof putEnvironment>;
export type PutEnvironmentParsed = z.output<typeof putEnvironment>;

const time = z.iso.datetime();

export const namedEnvironment = z.object({
  name: z.string(),
  /** Incremented with each change of the content. */
  version: z.number().int(),
  /** Hash of the content; equal contents in a workspace have equal hashes. */
  hash: z.string(),
  kind: z.enum(['environment', 'container']),
  /** E.g. `12 requirements, Python 3.12`, or the image. */
  summary: z.string(),
  user: z.string(),
  createdAt: time,
  updatedAt: time,
});
export type NamedEnvironment = z.infer<typeof namedEnvironment>;

export const environmentPage = z.object({ items: z.array(namedEnvironment), next: z.string().nullable() });
export type EnvironmentPage = z.infer<typeof environmentPage>;

/** One build for each platform that needed it, among the environments that instances share through the object store. */
const environmentBuild = z.object({
  state: z.enum(['building', 'stored', 'failed', 'too-large']),
  /** Operating system, C library, processor and interpreter. */
  platform: z.string(),
  /** A host setup script ran before the build. */
  hasSetupScript: z.boolean(),
  /** The cluster, instance and user of the build. */
  cluster: z.number().int(),
  instance: z.string(),
  user: z.string(),
  claimedAt: time,
  lastUsedAt: time,
  /** Null unless stored. */
  archive: z
    .object({
      bytes: z.number().int(),
      unpackedBytes: z.number().int(),
      buildSeconds: z.number(),
      storedAt: time,
    })
    .nullable(),
});
export type EnvironmentBuild = z.infer<typeof environmentBuild>;

export const environmentDetails = namedEnvironment.extend({
  /** Without the passwords in URLs. Null for a container. */
  software: z
    .object({
      requirements: z.array(z.string()),
      pinned: z.boolean(),
      python: z.string().nullable(),
      packageFiles: z.array(z.object({ name: z.string(), sha256: z.string() })),
    })
    .nullable(),
  /** Null for a Python environment. */
  container: z.string().nullable(),
  /** At most 50, the most recently used first. */
  builds: z.array(environmentBuild),
});
export type EnvironmentDetails = z.infer<typeof environmentDetails>;
