// The part of the store's port that is named environments: a name points to the newest content. The content itself, which may
// hold an index's password, lies sealed; a cluster or a job has a copy of what it began with.
import type { Answer } from './answer.ts';

export interface NamedEnvironment {
  name: string;
  /** Of the content, over the workspace's own key. */
  hash: string;
  /** Object key of the sealed content. No other environment or version has the same. */
  contentRef: string;
  /** Counts up with each change of the content. */
  version: number;
  kind: 'environment' | 'container';
  /** What people see of the content in a list: a container's image, or counts. */
  summary: string;
  user: string;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface PutEnvironment {
  name: string;
  hash: string;
  /** Sealed before, under a key of its own. */
  contentRef: string;
  kind: NamedEnvironment['kind'];
  summary: string;
  user: string;
}

export interface EnvironmentStore {
  /**
   * Points the name to this content; a name that has this hash already stays as it is. `unused`: the content that no name
   * points to after this, which is the replaced one or the given one.
   */
  put(
    workspace: string,
    item: PutEnvironment,
    nowMs: number,
  ): Promise<Answer<{ environment: NamedEnvironment; unused: string | null }>>;
  find(workspace: string, name: string): Promise<NamedEnvironment | null>;
  /** By name, after this one. */
  list(workspace: string, query: { after: string | null; limit: number }): Promise<NamedEnvironment[]>;
  /** What it was; null when there is none of that name. */
  remove(workspace: string, item: { name: string; user: string }, nowMs: number): Promise<NamedEnvironment | null>;
}
