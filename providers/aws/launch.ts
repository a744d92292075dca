// Launches on EC2. Workers are launched first because their capacity is scarcer; the head instance then goes to their zone.
// Every call carries a client token derived from the launch token, so a repeated launch finds its instances.
import { RopewalkError } from '../../domain/errors.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import { placementOf } from '../placement.ts';
import type { LaunchedInstance, LaunchOutcome, LaunchRequest } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { classify } from './errors.ts';
import { launchFleet } from './fleet.ts';
import { withIngressRules } from './ingress.ts';
import { accountFor, failureOf, poolsOf } from './pools.ts';
import type { RoleLaunch, RoleOutcome } from './pools.ts';
import { pricesOf } from './prices.ts';
import { runInstances } from './run-instances.ts';
import { codeOf, errorOf, isAnswer, mayHaveLaunched } from './sdk-errors.ts';
import { subnetsOf } from './settings.ts';
import type { AwsSettings } from './settings.ts';
import { discardTemplate, ensureTemplate } from './templates.ts';
import type { LaunchTemplate } from './templates.ts';
import { withoutExcluded } from './unavailable.ts';

/** Karpenter and others allow a new instance this long to appear in DescribeInstances. */
export const defaultUnseenMs = 120_000;

export async function launchInstances(
  clients: AwsClients,
  settings: AwsSettings,
  request: LaunchRequest,
  unseenMs = defaultUnseenMs,
): Promise<LaunchOutcome> {
  // All previous attempts launched before this time.
  const previousShownMs = performance.now() + unseenMs;
  const outcome: LaunchOutcome = { launched: [], failures: [] };
  let zone: string | null = null;
  for (const role of ['worker', 'head'] as const) {
    const slots = request.slots.filter((slot) => slot.role === role);
    if (slots.length === 0) continue;
    const { instances, failures } = await launchRole(clients, settings, {
      ...{ request, role, count: slots.length, zone, previousShownMs },
    });
    // EC2 does not guarantee an order of ids; sorting makes a repeat bind each id to the same slot.
    const ordered = instances.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const { market, diskGib } = placementOf(request, role);
    const priced = ordered.map(({ type, zone: where }) => ({ role, type, zone: where, market, diskGib }));
    const price = await pricesOf(clients, settings, priced);
    outcome.launched.push(
      ...ordered.flatMap(({ id, type, zone: where }, at): LaunchedInstance[] => {
        const slot = slots[at];
        if (slot === undefined) return [];
        const found = { role, type, zone: where, market, diskGib };
        const launched = { id, slot: slot.slot, offer: type, zone: where, price: price(found) };
        return [market === 'spot' ? { ...launched, hasLaterPrices: true } : launched];
      }),
    );
    outcome.failures.push(...failures);
    zone ??= request.placement?.oneZone === true ? (ordered[0]?.zone ?? null) : null;
  }
  outcome.launched.sort((a, b) => a.slot - b.slot);
  return outcome;
}

interface RoleRequest {
  request: LaunchRequest;
  role: InstanceRole;
  count: number;
  /** The required zone; null for any zone of the placement. */
  zone: string | null;
  previousShownMs: number;
}

async function launchRole(clients: AwsClients, settings: AwsSettings, wanted: RoleRequest): Promise<RoleOutcome> {
  const { request, role, count, zone } = wanted;
  const placement = placementOf(request, role);
  const zones = zone === null ? placement.zones : [zone];
  const subnets = subnetsOf(settings, role).filter((subnet) => zones.length === 0 || zones.includes(subnet.zone));
  const where = { zone: zones[0] ?? '', market: placement.market };
  if (subnets.length === 0) {
    const configured = settings.subnets.map((each) => each.zone).join(', ');
    const text = `The configuration has no subnet in ${zones.join(', ')}; it has ${configured}.`;
    const failure = { offer: '', ...where, code: 'NoSubnet', scope: 'request' as const, text, count };
    return { instances: [], failures: [failure], poolFailures: [] };
  }
  let template: LaunchTemplate | null = null;
  try {
    const withIngress = await withIngressRules(clients, settings, request, role);
    const pools = poolsOf(placement, subnets);
    const exclusions = clients.unavailable.exclusions(placement.market, pools);
    template = await ensureTemplate(clients, withIngress, { request, role, placement, exclusions });
    const { name, isNew } = template;
    const outcome = await launchFrom(clients, template.exclusions, {
      ...{ request, role, count, placement, pools, template: name, settings: withIngress },
      oneZone: request.placement?.oneZone === true,
      previousShownMs: isNew ? null : wanted.previousShownMs,
    });
    clients.unavailable.note(placement.market, outcome);
    if (outcome.instances.length === 0) await discardTemplate(clients, name);
    return outcome;
  } catch (error) {
    if (mayHaveLaunched(error)) throw repeatable(error);
    if (template !== null) await discardTemplate(clients, template.name);
    const failures = [failureOf({ type: '', ...where }, errorOf(error))];
    return { instances: [], failures: accountFor(count, failures, where), poolFailures: [] };
  }
}

async function launchFrom(clients: AwsClients, exclusions: string, launch: RoleLaunch): Promise<RoleOutcome> {
  try {
    return await launchPools(clients, { ...launch, pools: withoutExcluded(launch.pools, exclusions) });
  } catch (error) {
    if (exclusions === '' || codeOf(error) !== 'IdempotentParameterMismatch') throw error;
    // A previous attempt of this launch excluded no pools. Its template was deleted, with the cluster's last instance or after
    // an empty answer, and this attempt made a new one.
    return launchPools(clients, launch);
  }
}

/** Uses fleets, or single launches where the account allows no fleets. */
async function launchPools(clients: AwsClients, launch: RoleLaunch): Promise<RoleOutcome> {
  try {
    return await launchFleet(clients, launch);
  } catch (error) {
    if (!fleetsAreUnavailable.has(codeOf(error))) throw error;
    return runInstances(clients, launch);
  }
}

const fleetsAreUnavailable = new Set(['UnauthorizedOperation', 'MaxFleetCountExceeded', 'UnsupportedOperation']);

/**
 * The launch is repeated under the same token, which finds existing instances; meanwhile an operator reads this error. Known
 * temporary failures are repeated forever, unknown errors a bounded number of times.
 */
function repeatable(error: unknown): unknown {
  if (!isAnswer(error)) return error;
  const { code, message, requestId } = errorOf(error);
  const { text, known } = classify(code, message, requestId);
  return new RopewalkError({ code: known ? 'UNAVAILABLE' : 'INTERNAL', message: text }, { cause: error });
}
