// Named environments: set, list, read, delete. No package code runs here: a client sends a lock, or requirements that instances resolve.
import { withoutUrlSecrets } from '../../domain/software/url-text.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { environmentKey } from '../../platform/archive-keys.ts';
import { randomId } from '../../platform/ids.ts';
import type {
  EnvironmentDetails,
  EnvironmentPage,
  NamedEnvironment as Wire,
  PutEnvironmentParsed,
} from '../../schema/environments.ts';
import type { NamedEnvironment } from '../../store/environment-port.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { listBuilds } from '../shared-builds/list.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import { time } from '../to-wire.ts';
import { contentOf, hashOf, keptMs, noEnvironment, openContent, summaryOf } from './content.ts';

/** Idempotent. @throws RopewalkError VALIDATION, LIMIT_EXCEEDED */
export async function setEnvironment(
  context: Context,
  { name, body }: { name: string; body: PutEnvironmentParsed },
): Promise<Wire> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const content = contentOf(body);
  await requirePackageFiles(context, body.software);
  const { workspace, user } = actor;
  const hash = hashOf(deps, content);
  // A new key each time: concurrent requests never seal, replace or delete each other's content.
  const contentRef = environmentKey(workspace, name, randomId('content'));
  await deps.vault.seal(contentRef, Buffer.from(JSON.stringify(content)), { ttlMs: keptMs });
  const item = { name, hash, contentRef, kind: content.kind, summary: summaryOf(content), user };
  const answer = await deps.store.environments.put(workspace, item, deps.now());
  if ('error' in answer) {
    await deps.vault.delete(contentRef);
    throw new RopewalkError(answer.error);
  }
  const { environment, unused } = answer.ok;
  // Clusters and jobs that use the replaced content have copies.
  if (unused !== null) await deps.vault.delete(unused);
  return wireOf(environment);
}

export async function listEnvironments(
  { deps, actor }: Context,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<EnvironmentPage> {
  requireScope(actor, 'read');
  const found = await deps.store.environments.list(actor.workspace, { after: after ?? null, limit: limit + 1 });
  const items = found.slice(0, limit).map(wireOf);
  return { items, next: found.length > limit ? (items.at(-1)?.name ?? null) : null };
}

/** @throws RopewalkError NOT_FOUND */
export async function getEnvironment({ deps, actor }: Context, name: string): Promise<EnvironmentDetails> {
  requireScope(actor, 'read');
  const { environment, content } = await openContent(deps, actor.workspace, name);
  if (content.kind === 'container') {
    return { ...wireOf(environment), software: null, container: content.image, builds: [] };
  }
  const { requirements, pinned, python = null, packageFiles } = content.software;
  const shown = requirements.map(withoutUrlSecrets);
  const builds = await listBuilds(deps, actor.workspace, content.software);
  const software = { requirements: shown, pinned, python, packageFiles };
  return { ...wireOf(environment), software, container: null, builds };
}

/** @throws RopewalkError NOT_FOUND */
export async function deleteEnvironment({ deps, actor }: Context, name: string): Promise<Wire> {
  requireScope(actor, 'write');
  const { workspace, user } = actor;
  const removed = await deps.store.environments.remove(workspace, { name, user }, deps.now());
  if (removed === null) {
    throw noEnvironment(name);
  }
  await deps.vault.delete(removed.contentRef);
  return wireOf(removed);
}

const wireOf = ({ name, version, hash, kind, summary, user, createdAtMs, updatedAtMs }: NamedEnvironment): Wire => ({
  ...{ name, version, hash, kind, summary, user },
  createdAt: time(createdAtMs),
  updatedAt: time(updatedAtMs),
});
