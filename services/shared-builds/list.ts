// Lists the builds of a named environment for users.
import type { EnvironmentBuild } from '../../schema/environments.ts';
import type { Software } from '../../schema/software.ts';
import type { StoredBuild } from '../../store/shared-build-port.ts';
import type { Deps } from '../context.ts';
import { time } from '../to-wire.ts';
import { contentHash } from './content.ts';

export async function listBuilds(
  deps: Pick<Deps, 'store' | 'keys'>,
  workspace: string,
  software: Software,
): Promise<EnvironmentBuild[]> {
  const found = await deps.store.sharedBuilds.listOf(workspace, contentHash(deps, software), maxBuilds);
  return found.map(wireOf);
}

const maxBuilds = 50;

function wireOf({ platform, setup, build }: StoredBuild): EnvironmentBuild {
  const { builder, claimedAtMs, usedAtMs } = build;
  const archive = build.state === 'stored' ? build.archive : null;
  return {
    state: build.state === 'unshared' ? build.why : build.state,
    platform,
    hasSetupScript: setup !== null,
    ...builder,
    claimedAt: time(claimedAtMs),
    lastUsedAt: time(usedAtMs),
    archive: archive && {
      bytes: archive.bytes,
      unpackedBytes: archive.unpackedBytes,
      buildSeconds: archive.buildMs / 1_000,
      storedAt: time(archive.storedAtMs),
    },
  };
}
