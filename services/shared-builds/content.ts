// The software that an instance may build, download and store: that of its own job or cluster. The key of a build contains the hash of the sealed
// software, so no instance can store an archive where an instance with other software would find it.
import { createHash } from 'node:crypto';

import { mayHoldSecretUrl } from '../../domain/software/url-text.ts';
import { daskBundle, bundle as jobBundle } from '../../schema/agent.ts';
import type { EnvironmentSpec, Software } from '../../schema/software.ts';
import type { BuildKey } from '../../store/shared-build-port.ts';
import { readBundle } from '../agents/bundle.ts';
import type { Deps, InstanceContext } from '../context.ts';
import { hashBody } from '../jobs/canonical.ts';
import type { SharedContent } from './known-contents.ts';

/** Keyed, because a requirement may contain a password. Archives contain no package files of users. */
export function contentHash({ keys }: Pick<Deps, 'keys'>, software: Software | EnvironmentSpec): string {
  const { requirements, pinned, indexes, python } = software;
  const places = indexes.map((index) => ({ url: index.url, default: index.default }));
  const content = { requirements: requirements.toSorted(), pinned, indexes: places, python: python ?? null };
  return hashBody(content, keys.current.requestHmac);
}

/**
 * Null when the instance's job or cluster has no environment, or one that must not be stored. The caller has checked that the instance is part of it.
 */
export function contentOfInstance(context: InstanceContext): Promise<SharedContent | null> {
  const { workspace, cluster } = context.actor;
  return context.deps.sharedContents.of(`${workspace}/${cluster}`, () => readContent(context));
}

async function readContent(context: InstanceContext): Promise<SharedContent | null> {
  const { deps, actor } = context;
  const text: unknown = JSON.parse(Buffer.from(await readBundle(context)).toString('utf8'));
  const { runtime, hostSetupScript } = actor.job === null ? daskBundle.parse(text) : jobBundle.parse(text);
  if (runtime.kind !== 'environment' || runtime.requirements.some(mayHoldSecretUrl)) return null;
  // The script runs as root before the build, and can change every built file.
  const setup = hostSetupScript === null ? null : hashBody({ hostSetupScript }, deps.keys.current.requestHmac);
  return { content: contentHash(deps, runtime), setup };
}

export function buildKey(
  workspace: string,
  { content, setup }: SharedContent,
  { hash, platform }: { hash: string; platform: string },
): BuildKey {
  const id = createHash('sha256')
    .update(JSON.stringify([content, setup, hash, platform]))
    .digest('hex');
  return { workspace, id, content, setup, hash, platform };
}
