// Launches on Compute Engine. Workers are launched first because their capacity is scarcer; the head instance then goes to
// their zone. The request id is derived from the launch, so Google returns the same operation to a repeated request. The
// operation's inserts record which instances exist and why others do not.
import { setTimeout as sleep } from 'node:timers/promises';

import type { InstanceRole, LaunchFailure } from '../../domain/cluster/state.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { placementOf } from '../placement.ts';
import type { LaunchedInstance, LaunchOutcome, LaunchRequest, Market } from '../provider.ts';
import { answerOf, mayHaveLaunched } from './api-errors.ts';
import { bulkInsertBody } from './bulk-insert.ts';
import type { GcpClients } from './clients.ts';
import { findByNames } from './describe.ts';
import { classify } from './errors.ts';
import { ensureRules } from './ingress.ts';
import { parseType } from './machine-types.ts';
import { instanceName, lastPart, requestIdOf } from './names.ts';
import { errorOf, insertsOf, operationIn, waitForRegion } from './operations.ts';
import type { Operation } from './operations.ts';
import { launchPrice } from './prices.ts';
import type { GcpSettings } from './settings.ts';

export async function launchInstances(
  clients: GcpClients,
  settings: GcpSettings,
  request: LaunchRequest,
  unseenMs: number,
): Promise<LaunchOutcome> {
  const outcome: LaunchOutcome = { launched: [], failures: [] };
  let zone: string | null = null;
  for (const role of ['worker', 'head'] as const) {
    const slots = request.slots.filter((slot) => slot.role === role).map(({ slot }) => slot);
    if (slots.length === 0) continue;
    const { launched, failures } = await launchRole(clients, settings, { request, role, slots, zone, unseenMs });
    const of = placementOf(request, role);
    outcome.launched.push(
      ...launched.map((one) => ({ ...one, price: launchPrice(settings, { ...of, type: one.offer }) })),
    );
    outcome.failures.push(...failures);
    zone ??= request.placement?.oneZone === true ? (launched[0]?.zone ?? null) : null;
  }
  outcome.launched.sort((a, b) => a.slot - b.slot);
  return outcome;
}

interface RoleLaunch {
  request: LaunchRequest;
  role: InstanceRole;
  slots: number[];
  /** The required zone; null for any zone of the placement. */
  zone: string | null;
  unseenMs: number;
}

interface Where {
  offer: string;
  zone: string;
  market: Market;
}

async function launchRole(clients: GcpClients, settings: GcpSettings, wanted: RoleLaunch): Promise<LaunchOutcome> {
  const { request, role, slots, zone } = wanted;
  const placement = placementOf(request, role);
  const acceptable = zone === null ? placement.zones : [zone];
  const zones = settings.zones.filter((each) => acceptable.length === 0 || acceptable.includes(each));
  const where = {
    offer: placement.types[0] ?? '',
    zone: zones.length === 1 ? (zones[0] ?? '') : '',
    market: placement.market,
  };
  if (zones.length === 0) {
    const text = `The configuration has no zone ${acceptable.join(', ')}; it has ${settings.zones.join(', ')}.`;
    const failure = { ...where, code: 'NoZone', scope: 'request' as const, text, count: slots.length };
    return { launched: [], failures: [failure] };
  }
  const names = slots.map((slot) => instanceName(request.owner, request.token, slot));
  const slotOf = new Map(names.map((name, at) => [name, slots[at] ?? 0]));
  try {
    if (role === 'head') await ensureRules(clients, settings, request);
    const { project, region } = clients;
    const [answer] = await clients.regionInstances.bulkInsert({
      ...{ project, region },
      // Excludes the launch token, which differs between attempts.
      requestId: requestIdOf(request.owner, request.token, role, placement, zones, names),
      bulkInsertInstanceResourceResource: bulkInsertBody(settings, { request, role, placement, zones, names }),
    });
    const operation = await waitForRegion(clients, operationIn(answer));
    const inserts = await readInserts(clients, operation, wanted.unseenMs);
    const launched = await readLaunched(clients, inserts, slotOf, wanted);
    return { launched, failures: failuresOf(operation, inserts, slots.length - launched.length, where) };
  } catch (error) {
    const answer = answerOf(error);
    // Finds the instances of an attempt whose request id Google no longer remembers.
    if (answer?.code === 'alreadyExists') return existing(clients, slotOf, wanted, where);
    if (answer === null || mayHaveLaunched(error)) throw repeatable(error);
    return { launched: [], failures: [failureOf(where, answer, slots.length)] };
  }
}

const pollMs = 500;

/** Lists lag behind: waits until they show an insert for each instance that the operation counts as created. */
async function readInserts(
  clients: GcpClients,
  operation: Operation,
  unseenMs: number,
): Promise<Map<string, Operation>> {
  const statuses = Object.values(operation.instancesBulkInsertOperationMetadata?.perLocationStatus ?? {});
  const created = statuses.reduce((sum, { createdVmCount }) => sum + (createdVmCount ?? 0), 0);
  const untilMs = performance.now() + unseenMs;
  for (;;) {
    const inserts = await insertsOf(clients, operation.operationGroupId ?? '');
    const succeeded = [...inserts.values()].filter((insert) => errorOf(insert) === null).length;
    if (succeeded >= created) return inserts;
    if (performance.now() > untilMs) {
      const message = `Google Cloud created ${created} instances and lists the inserts of ${succeeded}; the launch is read again.`;
      throw new RopewalkError({ code: 'UNAVAILABLE', message });
    }
    await sleep(pollMs);
  }
}

async function readLaunched(
  clients: GcpClients,
  inserts: ReadonlyMap<string, Operation>,
  slotOf: ReadonlyMap<string, number>,
  { request, role }: RoleLaunch,
): Promise<LaunchedInstance[]> {
  const succeeded = [...inserts].filter(([, insert]) => errorOf(insert) === null);
  const { types } = placementOf(request, role);
  // With one type the instances need not be described: a repeated launch may name deleted instances.
  const shapes = types.length > 1 ? await findByNames(clients, request.owner, [...slotOf.keys()]) : [];
  const typeOf = new Map(shapes.map(({ name, machineType }) => [name, machineType]));
  return succeeded.flatMap(([name, insert]) => {
    const slot = slotOf.get(name);
    if (slot === undefined) return [];
    const offer = offerOf(types, typeOf.get(name));
    return [{ id: name, slot, offer, zone: lastPart(insert.zone) }];
  });
}

/** The offer of a machine type, with the accelerator that was requested with it. */
const offerOf = (types: readonly string[], machineType: string | undefined): string =>
  types.find((type) => parseType(type).machineType === machineType) ?? types[0] ?? '';

function failuresOf(
  operation: Operation,
  inserts: ReadonlyMap<string, Operation>,
  missing: number,
  where: Where,
): LaunchFailure[] {
  if (missing === 0) return [];
  const failed = [...inserts.values()].flatMap((insert) => {
    const error = errorOf(insert);
    return error === null ? [] : [{ ...error, zone: (insert.zone ?? '').split('/').at(-1) ?? where.zone }];
  });
  const general = errorOf(operation);
  const unexplained = {
    code: 'insufficientCapacity',
    message: 'It launched fewer instances than requested, and gave no reason.',
  };
  const reasons = failed.length > 0 ? failed : [{ ...(general ?? unexplained), zone: where.zone }];
  const byReason = new Map<string, LaunchFailure>();
  for (const { zone, ...error } of reasons) {
    const key = `${error.code} ${zone}`;
    const known = byReason.get(key);
    if (known === undefined) byReason.set(key, failureOf({ ...where, zone }, error, 1));
    else known.count += 1;
  }
  const failures = [...byReason.values()];
  const counted = failures.reduce((sum, { count }) => sum + count, 0);
  return failures.map((failure, at) => (at === 0 ? { ...failure, count: failure.count + missing - counted } : failure));
}

async function existing(
  clients: GcpClients,
  slotOf: ReadonlyMap<string, number>,
  { request, role }: RoleLaunch,
  where: Where,
): Promise<LaunchOutcome> {
  const found = await findByNames(clients, request.owner, [...slotOf.keys()]);
  const { types } = placementOf(request, role);
  const launched = found.map(({ name, zone, machineType }) => ({
    ...{ id: name, slot: slotOf.get(name) ?? 0, offer: offerOf(types, machineType), zone },
  }));
  const missing = slotOf.size - launched.length;
  const error = { code: 'alreadyExists', message: 'Only some instances of a previous attempt exist.' };
  return { launched, failures: missing === 0 ? [] : [failureOf(where, error, missing)] };
}

function failureOf(where: Where, { code, message }: { code: string; message: string }, count: number): LaunchFailure {
  const { scope, text } = classify(code, message);
  return { ...where, code, scope, text, count };
}

/** The launch is repeated under the same request id, which finds existing instances; meanwhile an operator reads this error. */
function repeatable(error: unknown): unknown {
  const answer = answerOf(error);
  if (answer === null) return error;
  const { text, known } = classify(answer.code, answer.message);
  return new RopewalkError({ code: known ? 'UNAVAILABLE' : 'INTERNAL', message: text }, { cause: error });
}
