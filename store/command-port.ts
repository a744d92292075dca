// The store's port for deferred commands.
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
  /** Ignores a repeated command. */
  put(command: DeferredCommand): Promise<void>;
  list(limit: number): Promise<DeferredCommand[]>;
  delete(command: Pick<DeferredCommand, 'kind' | 'number' | 'tasks'>): Promise<void>;
}
