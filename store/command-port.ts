// The part of the store's port that is deferred commands.
/** A stop or cancel that was accepted while Temporal was unavailable. */
export interface DeferredCommand {
  /** `cancel` with `tasks`: only these, in array syntax; empty otherwise. */
  kind: 'stop' | 'cancel';
  tasks: string;
  number: number;
  workspace: string;
  by: string;
  createdAtMs: number;
}

export interface CommandStore {
  /** The same command twice is one. */
  put(command: DeferredCommand): Promise<void>;
  list(limit: number): Promise<DeferredCommand[]>;
  delete(command: Pick<DeferredCommand, 'kind' | 'number' | 'tasks'>): Promise<void>;
}
