// Records a change of people or limits.
import type { By, PeopleEvent } from './state.ts';

export const peopleEvent = (by: By, code: string, text: string, nowMs: number): PeopleEvent => ({
  atMs: nowMs,
  by: by?.user ?? null,
  code,
  text,
});
