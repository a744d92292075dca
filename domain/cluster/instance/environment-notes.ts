// Cluster events about environments: which instance built one, that others downloaded it, and failures. A thousand downloads of one environment are
// one event.
import { addEvent } from '../notes.ts';
import type { ClusterState } from '../state.ts';

export interface InstanceNote {
  code: 'ENVIRONMENT_BUILT' | 'ENVIRONMENT_DOWNLOADED' | 'ENVIRONMENT_NOT_SHARED';
  text: string;
}

/** Maximum number among the events that a cluster keeps. */
const maxEvents: Record<InstanceNote['code'], number> = {
  ENVIRONMENT_BUILT: 5,
  ENVIRONMENT_DOWNLOADED: 1,
  ENVIRONMENT_NOT_SHARED: 5,
};

/** Ignores a repeated note. */
export function applyNote(state: ClusterState, instance: string, { code, text }: InstanceNote, nowMs: number): void {
  const said = `${instance} ${text}`;
  const before = state.events.filter((event) => event.code === code);
  if (before.length >= maxEvents[code] || before.some((event) => event.text === said)) return;
  addEvent(state, nowMs, code, said);
}
