// What a builder says while it builds, and when it will store no archive.
import type { InstanceContext } from '../context.ts';
import { findBuild } from './find.ts';

export async function noteProgress(
  context: InstanceContext,
  { build, claim, state }: { build: string; claim: number; state: 'building' | 'failed' | 'too-large' },
): Promise<{ isWanted: boolean }> {
  const { deps, actor } = context;
  const found = await findBuild(context, build);
  if (found === null) return { isWanted: false };
  const key = { workspace: actor.workspace, id: build };
  if (state === 'building') return { isWanted: await deps.store.sharedBuilds.renew(key, claim, deps.now()) };
  await deps.store.sharedBuilds.giveUp(key, { claim, why: state }, deps.now());
  return { isWanted: false };
}
