// Named environments: what a name points to. A cluster or a job that names one gets a copy of what it points to at that time.
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
  /** Counts up with each change of what the name points to. */
  version: z.number().int(),
  /** Of the content; equal contents of a workspace have equal ones. */
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

/** One for each platform that has needed it, of those that instances share through the object store. */
const environmentBuild = z.object({
  state: z.enum(['building', 'stored', 'failed', 'too-large']),
  /** Operating system, C library, processor and interpreter. */
  platform: z.string(),
  /** A host setup script has run before it was built. */
  hasSetupScript: z.boolean(),
  /** Who has built it, or does. */
  cluster: z.number().int(),
  instance: z.string(),
  user: z.string(),
  claimedAt: time,
  lastUsedAt: time,
  /** Null unless it is stored. */
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
  /** Passwords in URLs are left out. Null for a container. */
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
  /** Those used last first, at most 50. */
  builds: z.array(environmentBuild),
});
export type EnvironmentDetails = z.infer<typeof environmentDetails>;
