// Reports of a builder: its progress, or that it will store no archive.
import type { BuildStage } from '../../domain/environment/build-stages.ts';
import type { InstanceContext } from '../context.ts';
import { findBuild } from './find.ts';

interface Progress {
  build: string;
  claim: number;
  state: 'building' | 'failed' | 'too-large';
  /** The current stage of a working builder. */
  stage?: BuildStage | undefined;
}

export async function noteProgress(
  context: InstanceContext,
  { build, claim, state, stage }: Progress,
): Promise<{ isWanted: boolean }> {
  const { deps, actor } = context;
  const found = await findBuild(context, build);
  if (found === null) return { isWanted: false };
  const key = { workspace: actor.workspace, id: build };
  if (state === 'building')
    return { isWanted: await deps.store.sharedBuilds.renew(key, { claim, stage: stage ?? null }, deps.now()) };
  await deps.store.sharedBuilds.giveUp(key, { claim, why: state }, deps.now());
  return { isWanted: false };
}
