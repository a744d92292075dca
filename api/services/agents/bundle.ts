// What a job's tasks run: command, environment and files, opened for an instance of that job alone.
import { RopewalkError } from '../../../domain/errors.ts';
import type { InstanceContext } from '../context.ts';

/** The bundle as JSON text, as it was sealed: parsing 16 MiB for each of a thousand agents would serve nobody. */
export async function readBundle({ deps, actor }: InstanceContext): Promise<Uint8Array> {
  const spec = actor.job === null ? null : await deps.views.spec(actor.workspace, actor.job);
  const bytes = spec === null ? null : await deps.vault.open(spec.bundleRef);
  if (bytes !== null) return bytes;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: 'There is no bundle: the job is over.',
    hint: 'This agent should end.',
  });
}
