// An instance that has not registered. Its cloud is asked while it still has time to register, and an instance that has ended is lost
// at once (ended-while-starting.ts). Past its time, the reason may be ours: while the API or Temporal was unavailable, no agent could
// register, and a workflow that has to wait for a Temporal worker learns of a registration late. So the API is asked too: the instance is given up only after two checks in a row, some time apart, during which the API answered and had
// not heard its agent try. Registrations that waited for the end of an outage arrive in between.
import type { Lateness } from './lateness.ts';
import { describeUnregisteredAfterMs, registrationRecheckMs } from '../limits.ts';
import type { Wake } from '../../wake.ts';
import { countedWakes } from '../../wake.ts';
import { plural } from '../../units.ts';
import type { ClusterInstance, ClusterSettings, ClusterState, StartingInstance } from '../state.ts';

export function isRegistrationCheckDue(
  { settings }: ClusterState,
  instance: ClusterInstance,
  nowMs: number,
): instance is StartingInstance {
  const atMs = nextCheckMs(settings, instance);
  return atMs !== null && nowMs >= atMs;
}

/** Its end may have been seen before it registered: the provider is asked now. Its time to register stays as it is. */
export function wantRegistrationCheck(instance: StartingInstance, nowMs: number): void {
  if (instance.lateness?.underWay === true || hasMissedChecks(instance.lateness)) return;
  instance.lateness = { checks: 0, ...instance.lateness, nextMs: nowMs, underWay: false };
}

/** A check begins. */
export function noteRegistrationCheck(instance: StartingInstance): void {
  instance.lateness = { checks: 0, nextMs: 0, ...instance.lateness, underWay: true };
}

/**
 * Takes the answer of a check that did not find the instance ended. `apiAnswered`: our own API answered during it. `heardAtMs`: when the API heard the agent last, null
 * for never. The times are compared with each other only: the API's clock may differ from that of this workflow.
 */
export function answerRegistrationCheck(
  { settings }: ClusterState,
  instance: StartingInstance,
  { apiAnswered, heardAtMs }: { apiAnswered: boolean; heardAtMs: number | null },
  nowMs: number,
): void {
  const { lateness } = instance;
  if (lateness?.underWay !== true) return;
  lateness.underWay = false;
  const ageMs = nowMs - instance.launchedAtMs;
  if (ageMs < settings.registerTimeoutMs) {
    // Asked before its time: only its end would have counted.
    lateness.nextMs = instance.launchedAtMs + earlyCheckAge(settings, 2 * ageMs);
    return;
  }
  const isTrying = heardAtMs !== null && heardAtMs > (lateness.heardAtMs ?? -Infinity);
  if (isTrying) lateness.heardAtMs = heardAtMs;
  lateness.checks = apiAnswered && !isTrying ? lateness.checks + 1 : 0;
  lateness.nextMs = nowMs + Math.min(registrationRecheckMs, settings.registerTimeoutMs);
}

/** It will not register any more. */
export const isOverdue = (instance: ClusterInstance): boolean =>
  instance.state === 'starting' && hasMissedChecks(instance.lateness);

const hasMissedChecks = (lateness: Lateness | null): boolean =>
  lateness !== null && !lateness.underWay && lateness.checks >= checksNeeded;

/** Moments at which a check becomes due. */
export function registrationWakes({ settings, instances }: ClusterState): Wake[] {
  const checks = instances.flatMap((instance) => {
    const atMs = nextCheckMs(settings, instance);
    return atMs === null ? [] : [{ atMs, isEarly: atMs < instance.launchedAtMs + settings.registerTimeoutMs }];
  });
  const times = (early: boolean): number[] => checks.filter(({ isEarly }) => isEarly === early).map(({ atMs }) => atMs);
  return [
    ...countedWakes(times(true), (count) => `the cloud is asked about ${plural(count, 'starting instance')} at`),
    ...countedWakes(times(false), (count) => `${plural(count, 'instance')} must register by`),
  ];
}

const checksNeeded = 2;

/** The age at which an instance is asked about next, in milliseconds: from `ageMs` on, and at its register timeout at the latest. */
const earlyCheckAge = ({ registerTimeoutMs }: ClusterSettings, ageMs: number): number =>
  Math.min(registerTimeoutMs, Math.max(describeUnregisteredAfterMs, ageMs));

function nextCheckMs(settings: ClusterSettings, instance: ClusterInstance): number | null {
  if (instance.state !== 'starting') return null;
  const { lateness, launchedAtMs } = instance;
  if (lateness?.underWay === true || hasMissedChecks(lateness)) return null;
  return lateness?.nextMs ?? launchedAtMs + earlyCheckAge(settings, 0);
}
