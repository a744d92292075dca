// Containers that run beside the tasks of a job on its head instance, as a caller asks for them and as the agent reads them.
import { z } from 'zod';

import { imageSyntax } from '../domain/job/runtime-options.ts';
import { container } from './container.ts';

/** A head instance runs tasks too. */
export const maxSidecars = 5;

const variables = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'an environment variable name: letters, digits and _'),
  z.string().max(32 * 1024),
);

export const sidecarInput = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'letters, digits, ".", "_" and "-", at most 63'),
  container: z.string().regex(imageSyntax, 'the name of an image, e.g. redis:8'),
  /** Without it the image's own command. */
  command: z
    .array(z.string().max(32 * 1024))
    .max(1_000)
    .default([]),
  env: variables.default({}),
  ignoreEntrypoint: z.boolean().default(false),
  /** For the reader: a sidecar uses the network of its instance, so all its ports are open to the job's other instances. */
  ports: z.array(z.number().int().min(1).max(65_535)).max(20).default([]),
});

export const sidecar = z.object({
  name: z.string(),
  container,
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()),
});
export type Sidecar = z.infer<typeof sidecar>;
