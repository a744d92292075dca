// The runtime that a specification names: what its commands run in on an instance. One type for batch tasks and for Dask
// processes; the agent reads it in its bundle.
import { z } from 'zod';

import { environment } from './software.ts';

export const runtime = z.discriminatedUnion('kind', [
  /** The programs of the instance itself. */
  z.object({ kind: z.literal('host') }),
  /** A Python environment, made once per content and kept on the instance. */
  environment.extend({ kind: z.literal('environment') }),
  /** A container of this image. */
  z.object({ kind: z.literal('container'), image: z.string().min(1).max(500) }),
]);
export type RuntimeSpec = z.infer<typeof runtime>;
