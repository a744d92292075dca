// A launch on EC2. Workers go first, since they are the hard part: the zone that can give them is where the head instance
// goes too. Every call carries a token made of the launch's own, so a launch that is repeated finds what it made.
import { RopewalkError } from '../../domain/errors.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { LaunchedInstance, LaunchOutcome, LaunchRequest, Placement } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { withDoors } from './ingress.ts';
import { classify } from './errors.ts';
import { launchFleet } from './fleet.ts';
import { unmarked } from './unavailable.ts';
import { accountFor, failureOf, poolsOf } from './pools.ts';
import type { Given, Wanted } from './pools.ts';
import { runInstances } from './run-instances.ts';
import { codeOf, isAnswer, mayHaveLaunched, messageOf, requestIdOf } from './sdk-errors.ts';
import type { AwsSettings } from './settings.ts';
import { discardTemplate, ensureTemplate } from './templates.ts';
import type { LaunchTemplate } from './templates.ts';

/** Karpenter and others allow a new instance this long to appear in DescribeInstances. */
export const defaultUnseenMs = 120_000;

export async function launchInstances(
  clients: AwsClients,
  settings: AwsSettings,
  request: LaunchRequest,
  unseenMs = defaultUnseenMs,
): Promise<LaunchOutcome> {
  // What an earlier try has launched was launched before this moment.
  const shownMs = performance.now() + unseenMs;
  const outcome: LaunchOutcome = { launched: [], failures: [] };
  let zone: string | null = null;
  for (const role of ['worker', 'head'] as const) {
    const slots = request.slots.filter((slot) => slot.role === role);
    if (slots.length === 0) continue;
    const given = await launchRole(clients, settings, request, role, slots.length, zone, shownMs);
    // EC2 does not promise an order of ids; sorted, a repeat binds each to the same slot.
    const ordered = given.instances.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    outcome.launched.push(
      ...ordered.flatMap(({ id, type, zone: where }, at): LaunchedInstance[] => {
        const slot = slots[at];
        return slot === undefined ? [] : [{ id, slot: slot.slot, offer: type, zone: where }];
      }),
    );
    outcome.failures.push(...given.failures);
    zone ??= request.placement?.oneZone === true ? (ordered[0]?.zone ?? null) : null;
  }
  outcome.launched.sort((a, b) => a.slot - b.slot);
  return outcome;
}

async function launchRole(
  clients: AwsClients,
  settings: AwsSettings,
  request: LaunchRequest,
  role: InstanceRole,
  count: number,
  zone: string | null,
  shownMs: number,
): Promise<Given> {
  const placement = placementOf(request, role);
  const zones = zone === null ? placement.zones : [zone];
  const subnets = settings.subnets.filter((subnet) => zones.length === 0 || zones.includes(subnet.zone));
  const where = { zone: zones[0] ?? '', market: placement.market };
  if (subnets.length === 0) {
    const text = `The configuration has no subnet in ${zones.join(', ')}; it has ${settings.subnets.map((each) => each.zone).join(', ')}.`;
    return {
      instances: [],
      failures: [{ offer: '', ...where, code: 'NoSubnet', scope: 'request', text, count }],
      told: [],
    };
  }
  let template: LaunchTemplate | null = null;
  try {
    const lent = await withDoors(clients, settings, request, role);
    const all = poolsOf(placement, subnets);
    const marks = clients.lacking.marks(placement.market, all);
    const made = await ensureTemplate(clients, lent, request, role, placement, marks);
    template = made;
    const oneZone = request.placement?.oneZone === true;
    const earlierUntilMs = made.isNew ? null : shownMs;
    const wanted = { request, role, count, placement, oneZone, template: made.name, settings: lent, earlierUntilMs };
    const askBut = (leftOut: string): Promise<Given> => ask(clients, { ...wanted, pools: unmarked(all, leftOut) });
    const given = await askBut(made.leftOut).catch((error: unknown) => {
      if (made.leftOut === '' || codeOf(error) !== 'IdempotentParameterMismatch') throw error;
      // Its template had gone, with its cluster's last instance or with an answer that gave nothing: it was asked for before,
      // with nothing left out.
      return askBut('');
    });
    clients.lacking.note(placement.market, given);
    if (given.instances.length === 0) await discardTemplate(clients, made.name);
    return given;
  } catch (error) {
    if (mayHaveLaunched(error)) throw repeatable(error);
    if (template !== null) await discardTemplate(clients, template.name);
    const failures = [failureOf({ type: '', ...where }, codeOf(error), messageOf(error), 0, requestIdOf(error))];
    return { instances: [], failures: accountFor(count, failures, where), told: [] };
  }
}

/** Fleets, or single launches where the account allows no fleets. */
async function ask(clients: AwsClients, wanted: Wanted): Promise<Given> {
  try {
    return await launchFleet(clients, wanted);
  } catch (error) {
    const fleetsAreOut = ['UnauthorizedOperation', 'MaxFleetCountExceeded', 'UnsupportedOperation'].includes(
      codeOf(error),
    );
    if (!fleetsAreOut) throw error;
    return runInstances(clients, wanted);
  }
}

/**
 * The same launch is repeated under the same token, which finds out; meanwhile this is what an operator reads of it. Without
 * end for the troubles that we know to pass, a bounded number of times for what nobody understands.
 */
function repeatable(error: unknown): unknown {
  if (!isAnswer(error)) return error;
  const { text: message, known } = classify(codeOf(error), messageOf(error), requestIdOf(error));
  return new RopewalkError({ code: known ? 'UNAVAILABLE' : 'INTERNAL', message }, { cause: error });
}

function placementOf(request: LaunchRequest, role: InstanceRole): Placement {
  const placement = request.placement?.[role];
  if (placement !== undefined && placement.types.length > 0) return placement;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'vmTypes',
    message: `The launch names no instance type for its ${role === 'head' ? 'head instance' : 'workers'}.`,
    hint: 'Ask for instance types, or for cpu and memory.',
  });
}
