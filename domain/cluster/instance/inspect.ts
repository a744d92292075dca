// Selects silent instances for inspection and applies the answers. Each function changes the state in place and is idempotent.
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
 * Requests an inspection of instances that their job or the API has not heard. An unknown instance may belong to a launch without an answer yet; the
 * job is then not notified, because a job never reverts the loss of an instance. A job that still suspects it asks again.
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
      // The cluster no longer has the instance, so the job must not wait for it.
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

/** Maximum number of names in one event; a view has fifty events. */
const maxNamed = 10;

/** Applies the provider's description of the suspects and the API's last-heard times. */
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

/** Applies the API's last-heard times of these instances. */
export function applyHeard(state: ClusterState, heard: readonly Heard[]): void {
  if (state.dask?.headAsked !== undefined) state.dask.headAsked.underWay = false;
  noteHeard(state, heard);
}

function noteHeard({ instances, dask, settings }: ClusterState, heard: readonly Heard[]): void {
  if (dask === null || settings.dask === null) return;
  const head = heard.find(({ instance }) => instances.some(({ id, role }) => id === instance && role === 'head'));
  if (head !== undefined) noteHeadStreak(dask, settings.dask, head);
}

/** Many simultaneous silences are more likely our fault: the cluster raises an alarm and replaces none. */
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

/** Leases expire one by one, so each instance is inspected separately; instances one inspection short of being lost count too. */
const nearlyLost = (state: ClusterState): ClusterInstance[] =>
  live(state).filter((instance) => silentInspections(instance) >= maxSilentInspections - 1);

const live = ({ instances }: ClusterState): ClusterInstance[] => instances.filter((each) => !isEnding(each));
