// What was last known of workspaces, for an API that is started while Temporal is away: users, hashes of tokens, what is
// open. It lies sealed in the object store, so that nobody without the deployment's keys can write one, for a day at most. It is
// never used while Temporal answers, and it lets nobody make anything: a token known from here reads, stops and cancels.
import { createHash } from 'node:crypto';

import type { Logger } from 'pino';

import { keptWorkspaceMaxAgeMs } from '../domain/limits.ts';
import { keptWorkspaceKey } from '../platform/archive-keys.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { WorkspaceView } from '../workflows/workspace/messages.ts';

export interface KeptWorkspaces {
  /** Resolves when what people may do is on record as it is now; the rest follows within seconds. Never rejects. */
  keep(slug: string, view: WorkspaceView, readAtMs: number): Promise<void>;
  /** Null when there is none that is young enough. Never rejects. */
  recall(slug: string): Promise<{ value: WorkspaceView; readAtMs: number } | null>;
}

export function createKeptWorkspaces({
  vault,
  logger,
}: {
  vault: Pick<Vault, 'seal' | 'open'>;
  logger: Logger;
}): KeptWorkspaces {
  const kept = new Map<string, { people: string; all: string; atMs: number }>();
  return {
    async keep(slug, view, readAtMs) {
      const now = { people: digest([view.tokens, view.users]), all: digest(view), atMs: readAtMs };
      if (!isDue(kept.get(slug), now)) return;
      const bytes = Buffer.from(JSON.stringify({ v: 1, view, readAtMs } satisfies Kept));
      try {
        await vault.seal(keptWorkspaceKey(slug), bytes, { ttlMs: keptWorkspaceMaxAgeMs });
        kept.set(slug, now);
      } catch (error) {
        logger.warn({ err: error, workspace: slug }, 'what is known of a workspace could not be kept for an outage');
      }
    },

    async recall(slug) {
      try {
        const bytes = await vault.open(keptWorkspaceKey(slug));
        if (bytes === null) return null;
        const { view: value, readAtMs } = parseKept(bytes);
        logger.warn({ workspace: slug, readAtMs }, 'Temporal is away: this workspace is known from what was kept');
        return { value, readAtMs };
      } catch (error) {
        logger.warn({ err: error, workspace: slug }, 'what was kept of a workspace cannot be read');
        return null;
      }
    },
  };
}

interface Kept {
  v: 1;
  view: WorkspaceView;
  readAtMs: number;
}

/** Who may what, at once. What is open, every few seconds. And now and then that nothing has changed, or it would be too old. */
function isDue(
  before: { people: string; all: string; atMs: number } | undefined,
  now: { people: string; all: string; atMs: number },
): boolean {
  if (before === undefined || before.people !== now.people) return true;
  const passedMs = now.atMs - before.atMs;
  return passedMs >= (before.all === now.all ? keepUnchangedEveryMs : keepChangedEveryMs);
}

const keepChangedEveryMs = 10_000;
const keepUnchangedEveryMs = 60_000;

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');

/** Authentic, so it was written by this file. */
function parseKept(bytes: Uint8Array): Kept {
  const kept: Kept = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (kept.v !== 1) throw new Error(`it is of version ${String(kept.v)}, and this API reads version 1`);
  return kept;
}
