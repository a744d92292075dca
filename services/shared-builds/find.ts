// Finds a build by an instance's request: only one of the software of its own job or cluster.
import type { StoredBuild } from '../../store/shared-build-port.ts';
import { requireLiveOrStopping } from '../agents/live-instance.ts';
import type { InstanceContext } from '../context.ts';
import { contentOfInstance } from './content.ts';

/** Null when there is none. @throws RopewalkError FORBIDDEN for an instance that is no longer part of its cluster. */
export async function findBuild(context: InstanceContext, build: string): Promise<StoredBuild | null> {
  const { deps, actor } = context;
  await requireLiveOrStopping(context);
  const content = await contentOfInstance(context);
  const found = await deps.store.sharedBuilds.find({ workspace: actor.workspace, id: build });
  return found !== null && found.content === content?.content && found.setup === content.setup ? found : null;
}
