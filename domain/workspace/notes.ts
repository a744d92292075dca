// What was changed about people and limits, and by whom: the newest changes, kept in the workspace's own state.
import { maxWorkspaceEvents } from '../limits.ts';
import type { By, WorkspaceState } from './state.ts';

export function note(state: WorkspaceState, by: By, code: string, text: string, nowMs: number): void {
  state.events.push({ atMs: nowMs, by: by?.user ?? null, code, text });
  if (state.events.length > maxWorkspaceEvents) state.events.splice(0, state.events.length - maxWorkspaceEvents);
}
