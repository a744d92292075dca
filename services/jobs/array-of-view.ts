// The task ids of a job. A view contains a short array in full; a longer one is read from the specification.
import type { JobView } from '../../contracts/job.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { JobArray } from '../../domain/job/array.ts';
import { isShortened, readStoredArray } from '../../domain/job/stored-array.ts';
import type { Deps } from '../context.ts';

export async function arrayOfView(
  { views }: Pick<Deps, 'views'>,
  { array, workspace, number }: Pick<JobView, 'array' | 'workspace' | 'number'>,
): Promise<JobArray> {
  if (!isShortened(array)) return readStoredArray(array);
  const spec = await views.endedJobSpec(workspace, number);
  if (spec !== null) return readStoredArray(spec.settings.array);
  throw new RopewalkError({
    code: 'INTERNAL',
    message: `The specification of job ${number} is missing in the object store, or damaged: the ids of its tasks are unknown.`,
    hint: 'Restore the object store from a backup.',
  });
}
