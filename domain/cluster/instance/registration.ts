// An instance that has not registered in time. The reason may be ours: while the API or Temporal was unavailable, no agent could
// register, and a workflow that has to wait for a Temporal worker learns of a registration late. So the provider is asked first, and
// the API with it: the instance is given up only after two checks in a row, some time apart, during which the API answered and had
// not heard its agent try. Registrations that waited for the end of an outage arrive in between.
import type { Lateness } from './lateness.ts';
import { registrationRecheckMs } from '../limits.ts';
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
 * Takes the answer of a check. `apiAnswered`: our own API answered during it. `heardAtMs`: when the API heard the agent last, null
 * for never. The times are compared with each other only: the API's clock may differ from that of this workflow.
 */
export function answerRegistrationCheck(
  { settings }: ClusterState,
  instance: StartingInstance,
  { isGone, apiAnswered, heardAtMs }: { isGone: boolean; apiAnswered: boolean; heardAtMs: number | null },
  nowMs: number,
): void {
  const { lateness } = instance;
  if (lateness?.underWay !== true) return;
  if (!isGone && nowMs < instance.launchedAtMs + settings.registerTimeoutMs) {
    // Asked before its time: only its end counts.
    instance.lateness = null;
    return;
  }
  lateness.underWay = false;
  const isTrying = heardAtMs !== null && heardAtMs > (lateness.heardAtMs ?? -Infinity);
  if (isTrying) lateness.heardAtMs = heardAtMs;
  lateness.checks = apiAnswered && !isTrying ? lateness.checks + 1 : 0;
  if (isGone) lateness.checks = checksNeeded;
  lateness.nextMs = nowMs + Math.min(registrationRecheckMs, settings.registerTimeoutMs);
}

/** It will not register any more. */
export const isOverdue = (instance: ClusterInstance): boolean =>
  instance.state === 'starting' && hasMissedChecks(instance.lateness);

const hasMissedChecks = (lateness: Lateness | null): boolean =>
  lateness !== null && !lateness.underWay && lateness.checks >= checksNeeded;

/** Moments at which a check becomes due. */
export function registrationWakes({ settings, instances }: ClusterState): Wake[] {
  const times = instances.map((instance) => nextCheckMs(settings, instance)).filter((time) => time !== null);
  return countedWakes(times, (count) => `${plural(count, 'instance')} must register by`);
}

const checksNeeded = 2;

function nextCheckMs({ registerTimeoutMs }: ClusterSettings, instance: ClusterInstance): number | null {
  if (instance.state !== 'starting') return null;
  const { lateness, launchedAtMs } = instance;
  if (lateness?.underWay === true || hasMissedChecks(lateness)) return null;
  return lateness?.nextMs ?? launchedAtMs + registerTimeoutMs;
}
