// The part of the store's port that is named environments: a name points to the newest content. The content itself, which may
// hold an index's password, lies sealed; a cluster or a job has a copy of what it began with.
import type { Answer } from './store.ts';

export interface NamedEnvironment {
  name: string;
  /** Of the content, over the workspace's own key. */
  hash: string;
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
  kind: NamedEnvironment['kind'];
  summary: string;
  user: string;
}

export interface EnvironmentStore {
  /** Points the name to this content. `replaced`: the hash that it pointed to before, when that is another. */
  put(
    workspace: string,
    item: PutEnvironment,
    nowMs: number,
  ): Promise<Answer<{ environment: NamedEnvironment; replaced: string | null }>>;
  find(workspace: string, name: string): Promise<NamedEnvironment | null>;
  /** By name, after this one. */
  list(workspace: string, query: { after: string | null; limit: number }): Promise<NamedEnvironment[]>;
  /** What it was; null when there is none of that name. */
  remove(workspace: string, item: { name: string; user: string }, nowMs: number): Promise<NamedEnvironment | null>;
}
