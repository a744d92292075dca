// The workspace as it is now, or as it was last known.
import { RopewalkError } from '../../domain/errors.ts';
import type { By } from '../../domain/workspace/state.ts';
import type { WorkspaceView } from '../../workflows/workspace/messages.ts';
import type { Actor, Context } from '../context.ts';

export const byOf = ({ user, tokenId }: Actor): By => ({ user, tokenId });

export async function readWorkspace({
  deps,
  actor,
}: Context): Promise<{ view: WorkspaceView; staleSinceMs: number | null }> {
  const { value, isStale, readAtMs } = await deps.views.workspace(actor.workspace, maxAgeMs);
  if (value === null) throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no such workspace.' });
  return { view: value, staleSinceMs: isStale ? readAtMs : null };
}

const maxAgeMs = 250;
