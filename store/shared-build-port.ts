// The part of the store's port that is environments which instances share: who builds one, and which archive counts. The archives
// themselves are objects. The rules are domain/environment/shared-build.ts.
import type { BuildStage } from '../domain/environment/build-stages.ts';
import type { Archive, BuildAnswer, Builder, SharedBuild, UnsharedReason } from '../domain/environment/shared-build.ts';
import type { Answer } from './answer.ts';

/** What is built. */
export interface BuildKey {
  workspace: string;
  /** Of all that follows. */
  id: string;
  /** Keyed hash of the software that a cluster or a job asks for. */
  content: string;
  /** Keyed hash of the script that has prepared the instance; null for none. */
  setup: string | null;
  /** The name that the agent gives the environment: its packages as they are installed. */
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
  /** False when another instance has been asked to build it, or it is stored. */
  renew(key: BuildId, item: { claim: number; stage: BuildStage | null }, nowMs: number): Promise<boolean>;
  giveUp(key: BuildId, item: { claim: number; why: UnsharedReason }, nowMs: number): Promise<void>;
  /** Records the archive unless one is recorded; resolves to the one that counts, null when this instance had no claim. */
  store(
    key: BuildId,
    item: { claim: number; builder: Builder; archive: Archive; isPinned: boolean },
  ): Promise<Archive | null>;
  find(key: BuildId): Promise<StoredBuild | null>;
  /** Of this software, those used last first. */
  listOf(workspace: string, content: string, limit: number): Promise<StoredBuild[]>;
  /** Removes records of what was not used since, at most `limit`, and says which. */
  removeUnused(query: { beforeMs: number; limit: number }): Promise<BuildId[]>;
}
