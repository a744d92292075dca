// The states of a cluster, of its instances and of their Dask processes (docs/states.md).

export type ClusterStatus = 'waiting' | 'pending' | 'starting' | 'scaling' | 'ready' | 'stopping' | 'stopped' | 'error';
export type InstanceState = 'starting' | 'ready' | 'stopping' | 'error';
export type ProcessState = 'pending' | 'starting' | 'started' | 'stopping' | 'stopped' | 'error';

/** The stages of an instance's start, in order. */
export const stageNames = ['requested', 'launched', 'running', 'agent', 'environment', 'dask'] as const;
export type StageName = (typeof stageNames)[number];

export interface Stage {
  name: StageName;
  atMs: number;
}
