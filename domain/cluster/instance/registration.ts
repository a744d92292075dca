// An instance that has not registered. Before its register timeout its cloud is asked, and an instance that has ended is lost at once
// (ended-while-starting.ts). After the timeout, the cause may be ours: no agent can register while the API or Temporal is unavailable, and a workflow
// that waits for a Temporal worker receives a registration late. The API is therefore asked too: the instance is given up only after two consecutive
// checks, some time apart, during which the API answered and had not heard a registration attempt. Registrations that an outage delayed arrive
// between the checks.
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

/** Requests a check now, because the instance may have ended before it registered. Its register timeout is unchanged. */
export function wantRegistrationCheck(instance: StartingInstance, nowMs: number): void {
  if (instance.lateness?.underWay === true || hasMissedChecks(instance.lateness)) return;
  instance.lateness = { checks: 0, ...instance.lateness, nextMs: nowMs, underWay: false };
}

/** Notes that a check begins. */
export function noteRegistrationCheck(instance: StartingInstance): void {
  instance.lateness = { checks: 0, nextMs: 0, ...instance.lateness, underWay: true };
}

/**
 * Applies a check that did not find the instance ended. `apiAnswered`: the API answered during the check. `heardAtMs`: when the API last heard the
 * agent; null for never. These times are compared only with each other, because the API's clock may differ from the workflow's.
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
    // An early check counts only when it finds the instance ended.
    lateness.nextMs = instance.launchedAtMs + earlyCheckAge(settings, 2 * ageMs);
    return;
  }
  const isTrying = heardAtMs !== null && heardAtMs > (lateness.heardAtMs ?? -Infinity);
  if (isTrying) lateness.heardAtMs = heardAtMs;
  lateness.checks = apiAnswered && !isTrying ? lateness.checks + 1 : 0;
  lateness.nextMs = nowMs + Math.min(registrationRecheckMs, settings.registerTimeoutMs);
}

/** True when it will not register any more. */
export const isOverdue = (instance: ClusterInstance): boolean =>
  instance.state === 'starting' && hasMissedChecks(instance.lateness);

const hasMissedChecks = (lateness: Lateness | null): boolean =>
  lateness !== null && !lateness.underWay && lateness.checks >= checksNeeded;

/** Times at which a check becomes due. */
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

/** The age of the instance at the next check, in milliseconds: at least `ageMs`, at most its register timeout. */
const earlyCheckAge = ({ registerTimeoutMs }: ClusterSettings, ageMs: number): number =>
  Math.min(registerTimeoutMs, Math.max(describeUnregisteredAfterMs, ageMs));

function nextCheckMs(settings: ClusterSettings, instance: ClusterInstance): number | null {
  if (instance.state !== 'starting') return null;
  const { lateness, launchedAtMs } = instance;
  if (lateness?.underWay === true || hasMissedChecks(lateness)) return null;
  return lateness?.nextMs ?? launchedAtMs + earlyCheckAge(settings, 0);
}
