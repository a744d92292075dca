// Package files: wheels of a user's own packages and zip files of modules, by their SHA-256. They are sealed, because they contain a user's code, and
// expire; a file that is needed after that is uploaded again.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { sealedForDays } from '../../domain/cluster/limits.ts';
import { packageFileKey } from '../../platform/archive-keys.ts';
import { expiryOf } from '../../platform/vault/vault.ts';
import { daskBundle, bundle as jobBundle } from '../../schema/agent.ts';
import type { Software } from '../../schema/software.ts';
import { readBundle } from '../agents/bundle.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps, InstanceContext } from '../context.ts';

/** Idempotent; a repeat only extends the expiry. */
export async function storePackageFile(
  { deps, actor }: Context,
  { sha256, bytes }: { sha256: string; bytes: Uint8Array },
): Promise<void> {
  requireScope(actor, 'write');
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'sha256',
      message: 'The bytes that arrived have another SHA-256 than the path says.',
      hint: 'Compute the SHA-256 of the whole file, and send the file unchanged.',
    });
  }
  await deps.vault.seal(packageFileKey(actor.workspace, sha256), bytes, { ttlMs: keptMs });
}

/** Returns the files to upload before a cluster or a job may name them. */
export async function listMissingPackageFiles(
  { deps, actor }: Context,
  { sha256s }: { sha256s: string[] },
): Promise<{ missing: string[] }> {
  requireScope(actor, 'write');
  return { missing: await missing(deps, actor.workspace, sha256s) };
}

/** @throws RopewalkError VALIDATION naming the first file that was not uploaded. */
export async function requirePackageFiles({ deps, actor }: Context, software: Software | undefined): Promise<void> {
  const files = software?.packageFiles ?? [];
  const absent = new Set(
    await missing(
      deps,
      actor.workspace,
      files.map(({ sha256 }) => sha256),
    ),
  );
  const index = files.findIndex(({ sha256 }) => absent.has(sha256));
  if (index === -1) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: `software.packageFiles.${index}`,
    message: `software.packageFiles.${index}: ${files[index]?.name} has not been uploaded to this workspace, or has expired.`,
    hint: 'Upload it with PUT /v1/package-files/{sha256}, then send this request again.',
  });
}

/** For a user's own machine, which builds the environment of a cluster as its client. */
export async function readPackageFile(
  { deps, actor }: Context,
  { sha256 }: { sha256: string },
): Promise<Uint8Array<ArrayBuffer>> {
  requireScope(actor, 'write');
  return orNotFound(await deps.vault.open(packageFileKey(actor.workspace, sha256)));
}

/** An instance reads only the files that its own job or cluster names. */
export async function readPackageFileOfInstance(
  context: InstanceContext,
  { sha256 }: { sha256: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const { deps, actor } = context;
  const text: unknown = JSON.parse(Buffer.from(await readBundle(context)).toString('utf8'));
  const { runtime } = actor.job === null ? daskBundle.parse(text) : jobBundle.parse(text);
  const isNamed = runtime.kind === 'environment' && runtime.packageFiles.some((file) => file.sha256 === sha256);
  return orNotFound(isNamed ? await deps.vault.open(packageFileKey(actor.workspace, sha256)) : null);
}

/** A cluster that names a file may start instances until its sealed settings expire. */
const neededMs = sealedForDays * 86_400_000;
const keptMs = 2 * neededMs;

async function missing(deps: Pick<Deps, 'objects' | 'now'>, workspace: string, sha256s: string[]): Promise<string[]> {
  const absent: string[] = [];
  for (const sha256 of new Set(sha256s)) {
    const stored = await deps.objects.get(packageFileKey(workspace, sha256));
    const expiresAtMs = stored === null ? null : expiryOf(stored);
    if (expiresAtMs === null || expiresAtMs < deps.now() + neededMs) absent.push(sha256);
  }
  return absent;
}

function orNotFound(bytes: Uint8Array<ArrayBuffer> | null): Uint8Array<ArrayBuffer> {
  if (bytes !== null) return bytes;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: 'There is no package file with this SHA-256.',
    hint: 'Package files are found by the workspace that uploaded them, for some months.',
  });
}
