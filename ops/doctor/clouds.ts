// Checks of each configured cloud: its settings, its answers, a Temporal worker for its launches, and its sweep.
import { type Client, isGrpcServiceError, ScheduleNotFoundError } from '@temporalio/client';

import {
  ingressPolicySyntax,
  parseIngressPolicy,
  spellIngressPolicy,
} from '../../domain/cluster/capacity/ingress-policy.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { sweepScheduleId } from '../../contracts/sweep.ts';
import type { ConfiguredProvider, ProviderCheck, ProviderManifest } from '../../providers/manifest.ts';
import { manifests } from '../../providers/manifests.ts';
import { findHost } from '../host.ts';
import { hasPoller } from '../pollers.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const answerWithinMs = 20_000;

export async function checkClouds(patient: Patient): Promise<Finding[]> {
  const clouds = manifests.filter(({ kind }) => kind === 'cloud');
  return (await Promise.all(clouds.map((manifest) => checkCloud(manifest, patient)))).flat();
}

async function checkCloud(manifest: ProviderManifest, { env, home }: Patient): Promise<Finding[]> {
  const name = `${manifest.name} settings`;
  let provider: ConfiguredProvider | null;
  const host = await findHost(home);
  try {
    provider = manifest.configure({ env, home, hostId: host?.hostId ?? '' });
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken(name, error.problem.message, error.problem.hint ?? '')];
  }
  if (provider === null) return [];
  const { places, checks } = provider;
  const settings = ok(name, places.map(({ region }) => region).join(', '));
  const ingress = checkIngress(manifest, env);
  const answers = await Promise.all(checks.map((check) => runCheck(check, host?.deploymentId ?? '')));
  return [settings, ingress, ...answers, ...(await checkPlaces(manifest, provider, { env, home }))];
}

/** The sources for which requests may open ports. */
export function checkIngress({ name }: Pick<ProviderManifest, 'name'>, env: Patient['env']): Finding {
  const text = env['ROPEWALK_INGRESS'] ?? '';
  const policy = parseIngressPolicy(text === '' ? 'any' : text);
  if (policy === null) return broken(`${name} ingress`, `ROPEWALK_INGRESS ${ingressPolicySyntax}`, 'Correct it.');
  const allowed = `members may open ports of head instances to ${spellIngressPolicy(policy)}`;
  return ok(`${name} ingress`, policy === 'any' ? `${allowed}; ROPEWALK_INGRESS=limited limits it` : allowed);
}

async function runCheck(check: ProviderCheck, deploymentId: string): Promise<Finding> {
  const { name } = check;
  try {
    const found = await check.run(AbortSignal.timeout(check.doctorOnly?.withinMs ?? answerWithinMs), deploymentId);
    return typeof found === 'string' ? ok(name, found) : warning(name, found.text, found.hint);
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return broken(name, error.problem.message, error.problem.hint ?? '');
  }
}

async function checkPlaces(
  manifest: ProviderManifest,
  { places }: ConfiguredProvider,
  patient: Pick<Patient, 'env' | 'home'>,
): Promise<Finding[]> {
  try {
    return await withTemporal(patient, async ({ client }) => {
      const found: Finding[] = [];
      for (const { queue } of places) {
        found.push(await checkWorker(client, manifest, queue), await checkSweep(client, manifest, queue));
      }
      return found;
    });
  } catch (error) {
    // Another check reports a problem of Temporal itself.
    if (error instanceof RopewalkError || isMissing(error)) return [];
    throw error;
  }
}

/** A gRPC status. */
const notFound = 5;

/** The namespace is missing before `ropewalk init`. */
const isMissing = (error: unknown): boolean => isGrpcServiceError(error) && error.code === notFound;

async function checkWorker(client: Client, manifest: ProviderManifest, queue: string): Promise<Finding> {
  const check = `${manifest.name} worker`;
  if (await hasPoller(client, queue, 'activities')) return ok(check, `a Temporal worker polls ${queue}`);
  const text = `no Temporal worker polls ${queue}: nothing is launched or ended there`;
  const named = `ROPEWALK_PROVIDERS unset or naming ${manifest.name}`;
  return broken(check, text, `Start one with ${manifest.settingsVariable} set, and ${named}.`);
}

async function checkSweep(client: Client, manifest: ProviderManifest, queue: string): Promise<Finding> {
  const [check, schedule] = [`${manifest.name} sweep`, sweepScheduleId(queue)];
  try {
    const { state } = await client.schedule.getHandle(schedule).describe();
    if (!state.paused) return ok(check, `${schedule} is scheduled`);
    return warning(check, `${schedule} is paused`, 'Unpause the schedule in Temporal.');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    const fix = `Run, with ${manifest.settingsVariable} set: ropewalk init`;
    return broken(check, `${schedule} is not scheduled: what a crash leaves there is not found`, fix);
  }
}
