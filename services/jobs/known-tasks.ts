// Checks that a job has the requested tasks, of which there may be a million.
import { RopewalkError } from '../../domain/errors.ts';
import type { JobArray } from '../../domain/job/array.ts';
import { describeStoredArray } from '../../domain/job/stored-array.ts';
import { callerOf } from '../auth/caller.ts';
import type { Context } from '../context.ts';
import { inParts } from '../turns.ts';

/** @throws RopewalkError VALIDATION, field `tasks`, with the first unknown id. */
export function requireTasks(
  { deps, actor }: Pick<Context, 'deps' | 'actor'>,
  wanted: JobArray,
  array: JobArray,
): Promise<void> {
  return deps.turns.take(callerOf(actor).id, wanted.count, () =>
    inParts(wanted.count, (index) => {
      const id = wanted.idAt(index);
      if (array.indexOf(id) === null) throw unknown(id, array);
    }),
  );
}

const unknown = (id: number, array: JobArray) =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'tasks',
    message: `tasks: the job has no task ${id}; it has ${describeStoredArray(array.canonical)}.`,
  });
