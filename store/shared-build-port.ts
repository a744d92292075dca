// The store's port for environments that instances share: the builder of each, and its valid archive. The archives themselves
// are objects. The rules are in domain/environment/shared-build.ts.
import type { BuildStage } from '../domain/environment/build-stages.ts';
import type { Archive, BuildAnswer, Builder, SharedBuild, UnsharedReason } from '../domain/environment/shared-build.ts';
import type { Answer } from './answer.ts';

/** The identity of a build. */
export interface BuildKey {
  workspace: string;
  /** Derived from all following fields. */
  id: string;
  /** Keyed hash of a cluster's or job's requested software. */
  content: string;
  /** Keyed hash of the host setup script; null for none. */
  setup: string | null;
  /** The agent's name for the environment: its installed packages. */
  hash: string;
  /** Operating system, C library, processor and interpreter. */
  platform: string;
}

export type BuildId = Pick<BuildKey, 'workspace' | 'id'>;

export interface StoredBuild extends BuildKey {
  build: SharedBuild;
}

export interface SharedBuildStore {
  /** LIMIT_EXCEEDED when the workspace has too many. */
  claim(
    key: BuildKey,
    ask: { builder: Builder; damaged: string | null },
    nowMs: number,
  ): Promise<Answer<{ answer: BuildAnswer; dropped: string | null }>>;
  /** False when another instance has the claim, or the archive is stored. */
  renew(key: BuildId, item: { claim: number; stage: BuildStage | null }, nowMs: number): Promise<boolean>;
  giveUp(key: BuildId, item: { claim: number; why: UnsharedReason }, nowMs: number): Promise<void>;
  /** Records the archive unless one is recorded; resolves to the valid one, null when this instance had no claim. */
  store(
    key: BuildId,
    item: { claim: number; builder: Builder; archive: Archive; isPinned: boolean },
  ): Promise<Archive | null>;
  find(key: BuildId): Promise<StoredBuild | null>;
  /** Builds of this software, most recently used first. */
  listOf(workspace: string, content: string, limit: number): Promise<StoredBuild[]>;
  /** Removes and returns records that were not used since, at most `limit`. */
  removeUnused(query: { beforeMs: number; limit: number }): Promise<BuildId[]>;
}
