// Which instances are inspected because they are silent, and what follows from the answers. Each function changes
// the state in place and may be given the same answer twice.
import { massLossMinimum, massLossShare, maxSilentInspections } from '../limits.ts';
import { noteHeadStreak } from '../dask/heard.ts';
import { addEvent } from '../notes.ts';
import type { ClusterInstance, ClusterState, ReadyInstance } from '../state.ts';
import { lose, reportLost } from './lose.ts';
import { isEnding } from './transitions.ts';
import { applyEarlyEnd } from './ended-while-starting.ts';
import { answerRegistrationCheck, wantRegistrationCheck } from './registration.ts';
import {
  answerInspection,
  countsSilence,
  type Heard,
  type Inspection,
  silentInspections,
  suspect,
} from './suspicion.ts';

/**
 * Asks for an inspection of instances that their job or the API has not heard of. An instance that is not in the books may come
 * from a launch that has not answered: then nothing is said of it, since a job never takes back that an instance is lost. A job
 * that still suspects it asks again.
 */
export function suspectInstances(
  state: ClusterState,
  suspects: { instance: string; heardAtMs: number }[],
  nowMs: number,
): void {
  const isLaunching = state.launches.length > 0;
  for (const item of suspects) {
    const instance = state.instances.find((known) => known.id === item.instance);
    if (instance === undefined && isLaunching) continue;
    if (instance === undefined) {
      // Gone from our books, so the job must not wait for it either.
      const text = 'the instance is no longer part of the cluster';
      reportLost(state, { instance: item.instance, code: 'GONE', text, isOrderly: false });
      continue;
    }
    if (instance.state === 'ready') suspect(instance, item.heardAtMs, nowMs);
    if (instance.state === 'starting') wantRegistrationCheck(instance, nowMs);
  }
  if (suspects.length > 0) addEvent(state, nowMs, 'SUSPECTED', `not heard of: ${someOf(suspects)}`);
}

const someOf = (suspects: { instance: string }[]): string => {
  const named = suspects.slice(0, maxNamed).map(({ instance }) => instance);
  const more = suspects.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** In an event, of which a view has fifty. */
const maxNamed = 10;

/** The provider has described the suspects, and the API has said when it last heard them. */
export function applyInspection(state: ClusterState, inspection: Inspection, nowMs: number): void {
  const isSilenceCounted = countsSilence(state.settings, inspection);
  const silent: ReadyInstance[] = [];
  for (const { id, state: seen, wasOrdered, why } of inspection.seen) {
    const instance = state.instances.find((known) => known.id === id);
    if (instance?.state === 'starting' && seen === 'gone') {
      if (wasOrdered === true) lose(state, instance, { code: 'GONE', text: orderedEnd(why), atMs: nowMs }, 'ordered');
      else applyEarlyEnd(state, instance, why, nowMs);
    } else if (instance?.state === 'starting') {
      const apiAnswered = inspection.linkWorks && inspection.listeningMs > 0;
      const heardAtMs = inspection.heard.find((each) => each.instance === id)?.heardAtMs ?? null;
      answerRegistrationCheck(state, instance, { apiAnswered, heardAtMs }, nowMs);
    }
    if (instance?.state !== 'ready') continue;
    const lost = answerInspection(instance, seen, { heard: inspection.heard, isSilenceCounted });
    if (lost !== null) {
      const gone = wasOrdered === true ? orderedEnd(why) : unexpectedEnd(why);
      const text = lost === 'gone' ? gone : 'the provider knows it no more';
      const ending = wasOrdered === true ? 'ordered' : 'unexpected';
      lose(state, instance, { code: 'GONE', text, atMs: nowMs }, ending);
    } else if (isSilenceCounted && silentInspections(instance) >= maxSilentInspections) silent.push(instance);
  }
  noteHeard(state, inspection.heard);
  loseSilent(state, silent, nowMs);
}

const orderedEnd = (why: string | undefined): string =>
  `it was terminated by request${why === undefined ? '' : `: ${why}`}`;

const unexpectedEnd = (why: string | undefined): string =>
  `the provider says that it no longer exists${why === undefined ? '' : `: ${why}`}`;

/** The API has said when it last heard these instances. */
export function applyHeard(state: ClusterState, heard: readonly Heard[]): void {
  if (state.dask?.headAsked !== undefined) state.dask.headAsked.underWay = false;
  noteHeard(state, heard);
}

function noteHeard({ instances, dask, settings }: ClusterState, heard: readonly Heard[]): void {
  if (dask === null || settings.dask === null) return;
  const head = heard.find(({ instance }) => instances.some(({ id, role }) => id === instance && role === 'head'));
  if (head !== undefined) noteHeadStreak(dask, settings.dask, head);
}

/** Many silent at once is more likely our mistake than theirs: alarm, and replace none. */
function loseSilent(state: ClusterState, silent: ReadyInstance[], nowMs: number): void {
  if (isMassLoss(state)) {
    if (state.alarm !== null) return;
    const text = `${nearlyLost(state).length} of ${live(state).length} instances look lost at once; none is replaced until they are heard again`;
    state.alarm = { code: 'MASS_LOSS', text, atMs: nowMs };
    addEvent(state, nowMs, 'MASS_LOSS', text);
    return;
  }
  state.alarm = null;
  for (const instance of silent) {
    lose(state, instance, { code: 'SILENT', text: 'it exists but has stopped answering', atMs: nowMs });
  }
}

export function isMassLoss(state: ClusterState): boolean {
  const nearly = nearlyLost(state).length;
  return nearly >= massLossMinimum && nearly > live(state).length * massLossShare;
}

/** Leases run out one by one, so each is inspected on its own; those that are one inspection short of being lost count too. */
const nearlyLost = (state: ClusterState): ClusterInstance[] =>
  live(state).filter((instance) => silentInspections(instance) >= maxSilentInspections - 1);

const live = ({ instances }: ClusterState): ClusterInstance[] => instances.filter((each) => !isEnding(each));
