// Decides for an instance without an environment: download it, build it, or wait for the instance that builds it.
import { buildLeaseMs } from '../../domain/environment/limits.ts';
import { maxApiFileBytes, maxFileBytes } from '../../domain/file-limits.ts';
import { environmentArchiveKey } from '../../platform/archive-keys.ts';
import type { BuildClaimAnswer } from '../../schema/shared-builds.ts';
import type { InstanceContext } from '../context.ts';
import { requireLive } from '../agents/live-instance.ts';
import { buildKey, contentOfInstance } from './content.ts';

export interface BuildAsk {
  hash: string;
  platform: string;
  damaged: string | null;
}

export async function claimBuild(context: InstanceContext, ask: BuildAsk): Promise<BuildClaimAnswer> {
  const { deps, actor } = context;
  const { workspace, cluster, instance } = actor;
  const { view } = await requireLive(context, knownMaxAgeMs);
  if (!isShared(context)) return { do: 'alone' };
  const content = await contentOfInstance(context);
  if (content === null) return { do: 'alone' };
  const key = buildKey(workspace, content, ask);
  const builder = { instance, cluster, user: view.user };
  const claim = (damaged: string | null) => deps.store.sharedBuilds.claim(key, { builder, damaged }, deps.now());
  let claimed = await claim(ask.damaged);
  if ('ok' in claimed && claimed.ok.answer.do === 'download') {
    const { sha256, bytes } = claimed.ok.answer.archive;
    // Something else deleted or truncated it; no instance could repair that.
    if ((await deps.files.size(environmentArchiveKey(workspace, key.id, sha256))) !== bytes)
      claimed = await claim(sha256);
  }
  if ('error' in claimed) return { do: 'alone' };
  const { answer, dropped } = claimed.ok;
  if (dropped !== null) {
    deps.logger.warn(
      { workspace, instance, build: key.id, isDamaged: dropped === ask.damaged },
      'an archive was given up',
    );
    await deps.objects.delete(environmentArchiveKey(workspace, key.id, dropped));
  }
  const build = key.id;
  switch (answer.do) {
    case 'download': {
      const { sha256, bytes, unpackedBytes } = answer.archive;
      const at = environmentArchiveKey(workspace, build, sha256);
      const url = deps.files.kind === 'signed' ? await deps.files.downloadUrl(at) : null;
      return { do: 'download', build, sha256, bytes, unpackedBytes, url };
    }
    case 'build': {
      const maxBytes = Math.min(deps.archives.maxBytes, deps.files.kind === 'signed' ? maxFileBytes : maxApiFileBytes);
      return { do: 'build', build, claim: answer.claim, renewEveryMs: Math.round(buildLeaseMs / 4), maxBytes };
    }
    case 'wait':
      return answer;
    case 'alone':
      return { do: 'alone' };
  }
}

/** The instances of one host share its directory. A bucket may serve several hosts. */
function isShared({ deps, actor }: InstanceContext): boolean {
  const provider = deps.providers.find(({ manifest }) => manifest.isInstanceId(actor.instance));
  return provider?.manifest.kind === 'cloud' || deps.files.kind === 'signed';
}

const knownMaxAgeMs = 5_000;
