// How instances came to their environments, as events of their cluster: who built one, that others have it from there, and what went
// wrong. A thousand instances that download one make one event.
import { addEvent } from '../notes.ts';
import type { ClusterState } from '../state.ts';

export interface InstanceNote {
  code: 'ENVIRONMENT_BUILT' | 'ENVIRONMENT_DOWNLOADED' | 'ENVIRONMENT_NOT_SHARED';
  text: string;
}

/** Of the events that a cluster keeps. */
const maxEvents: Record<InstanceNote['code'], number> = {
  ENVIRONMENT_BUILT: 5,
  ENVIRONMENT_DOWNLOADED: 1,
  ENVIRONMENT_NOT_SHARED: 5,
};

/** The same note again changes nothing. */
export function applyNote(state: ClusterState, instance: string, { code, text }: InstanceNote, nowMs: number): void {
  const said = `${instance} ${text}`;
  const before = state.events.filter((event) => event.code === code);
  if (before.length >= maxEvents[code] || before.some((event) => event.text === said)) return;
  addEvent(state, nowMs, code, said);
}
