// The runtime of a specification: where its commands run on an instance. One type for batch tasks and for Dask processes; the agent reads it from its
// bundle.
import { z } from 'zod';

import { container } from './container.ts';
import { environment } from './software.ts';

export const runtime = z.discriminatedUnion('kind', [
  /** The programs of the instance itself. */
  z.object({ kind: z.literal('host') }),
  /** A Python environment, built once per content and kept on the instance. */
  environment.extend({ kind: z.literal('environment') }),
  /** A container of this image. */
  container.extend({ kind: z.literal('container') }),
]);
export type RuntimeSpec = z.infer<typeof runtime>;
