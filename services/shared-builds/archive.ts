// The archive of a build: announced, uploaded, then recorded. Other instances see it once it is complete in the object store.
import type { Readable } from 'node:stream';

import { mayStore } from '../../domain/environment/shared-build.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { maxApiFileBytes } from '../../domain/file-limits.ts';
import { environmentArchiveKey } from '../../platform/archive-keys.ts';
import type { BuildArchive, BuildArchiveAnswer } from '../../schema/shared-builds.ts';
import type { InstanceContext } from '../context.ts';
import { receiveContent, sendContent, type SentFile } from '../files/transfers.ts';
import { findBuild } from './find.ts';

/** Idempotent: the agent sends the same before its upload and after it. */
export async function announceArchive(
  context: InstanceContext,
  { build, archive }: { build: string; archive: BuildArchive },
): Promise<BuildArchiveAnswer> {
  const { deps, actor } = context;
  const { workspace, cluster, instance } = actor;
  const { claim, sha256, bytes, unpackedBytes, buildMs, isPinned } = archive;
  const found = await findBuild(context, build);
  if (mayStore(found?.build ?? null, claim, sha256) !== 'ours') return { state: 'unwanted' };
  if (bytes > deps.archives.maxBytes) return { state: 'unwanted' };
  const key = environmentArchiveKey(workspace, build, sha256);
  if ((await deps.files.size(key)) !== bytes) {
    const place = deps.files.kind === 'signed' ? await deps.files.uploadUrl(key, { sha256, bytes }) : inApi;
    return { state: 'upload', ...place };
  }
  const { user } = await deps.views.clusterOfAgent(workspace, cluster, knownMaxAgeMs);
  const builder = { instance, cluster, user };
  const item = { sha256, bytes, unpackedBytes, buildMs, storedAtMs: deps.now() };
  const counts = await deps.store.sharedBuilds.store(
    { workspace, id: build },
    { claim, builder, archive: item, isPinned },
  );
  if (counts?.sha256 === sha256) return { state: 'stored' };
  // Another one was recorded meanwhile, so nothing refers to this object.
  await deps.objects.delete(key);
  return { state: 'unwanted' };
}

const inApi = { url: null, headers: {} };
const knownMaxAgeMs = 60_000;

/** @throws RopewalkError NOT_FOUND when the instance has announced no such archive, and as receiveContent. */
export async function receiveArchive(context: InstanceContext, build: string, sent: SentFile): Promise<void> {
  const { deps, actor } = context;
  const found = await findBuild(context, build);
  // The stored archive is never overwritten.
  if (found === null || found.build.state === 'stored') throw noArchive();
  const maxBytes = Math.min(deps.archives.maxBytes, maxApiFileBytes);
  await receiveContent(deps, environmentArchiveKey(actor.workspace, build, sent.sha256), sent, maxBytes);
}

/** @throws RopewalkError NOT_FOUND */
export async function sendArchive(
  context: InstanceContext,
  { build, sha256 }: { build: string; sha256: string },
): Promise<{ bytes: number; stream: Readable }> {
  const found = await findBuild(context, build);
  if (found?.build.state !== 'stored' || found.build.archive.sha256 !== sha256) throw noArchive();
  return sendContent(context.deps, environmentArchiveKey(context.actor.workspace, build, sha256));
}

const noArchive = () =>
  new RopewalkError({ code: 'NOT_FOUND', message: 'There is no such archive of an environment of this instance.' });
