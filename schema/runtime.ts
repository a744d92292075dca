// The runtime that a specification names: what its commands run in on an instance. One type for batch tasks and for Dask
// processes; the agent reads it in its bundle.
import { z } from 'zod';

export const runtime = z.discriminatedUnion('kind', [
  /** The programs of the instance itself. */
  z.object({ kind: z.literal('host') }),
  /** A Python environment of these requirements (PEP 508), made once per content and kept on the instance. */
  z.object({ kind: z.literal('environment'), requirements: z.array(z.string()) }),
  /** A container of this image. */
  z.object({ kind: z.literal('container'), image: z.string().min(1).max(500) }),
]);
export type RuntimeSpec = z.infer<typeof runtime>;
