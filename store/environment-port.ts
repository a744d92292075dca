// The store's port for named environments: a name refers to the newest content. The content itself, which may contain an
// index's password, is sealed; a cluster or a job has a copy from its start.
import type { Answer } from './answer.ts';

export interface NamedEnvironment {
  name: string;
  /** Hash of the content, keyed per workspace. */
  hash: string;
  /** Object key of the sealed content, unique per environment and version. */
  contentRef: string;
  /** Incremented with each change of the content. */
  version: number;
  kind: 'environment' | 'container';
  /** Summary of the content for lists: a container's image, or counts. */
  summary: string;
  user: string;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface PutEnvironment {
  name: string;
  hash: string;
  /** Sealed before, under a new key. */
  contentRef: string;
  kind: NamedEnvironment['kind'];
  summary: string;
  user: string;
}

export interface EnvironmentStore {
  /**
   * Points the name to this content; a name that already has this hash is unchanged. `unused`: the content without a name
   * afterwards, which is the replaced one or the given one.
   */
  put(
    workspace: string,
    item: PutEnvironment,
    nowMs: number,
  ): Promise<Answer<{ environment: NamedEnvironment; unused: string | null }>>;
  find(workspace: string, name: string): Promise<NamedEnvironment | null>;
  /** By name, after this one. */
  list(workspace: string, query: { after: string | null; limit: number }): Promise<NamedEnvironment[]>;
  /** Returns the removed environment; null when the name does not exist. */
  remove(workspace: string, item: { name: string; user: string }, nowMs: number): Promise<NamedEnvironment | null>;
}
