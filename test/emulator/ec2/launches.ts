// CreateFleet of type `instant`, and RunInstances: both idempotent by client token, as EC2 is.
import { allocate, byPrice } from '../allocate.ts';
import type { Pool, PoolError } from '../allocate.ts';
import { AwsError } from '../aws-error.ts';
import { hexId } from '../state.ts';
import type { Instance, Market, Subnet, TemplateData } from '../state.ts';
import type { Params } from '../params.ts';
import { instanceTypes } from '../types.ts';
import type { Xml } from '../xml.ts';
import { readTags } from './call.ts';
import type { Call, Operation } from './call.ts';
import { shownReservation } from './instances.ts';
import { checkFleet, checkZones } from './fleet-checks.ts';
import {
  architectureProblem,
  checkLaunchData,
  checkVersion,
  readLaunchData,
  spotTagsProblem,
  templateOf,
} from './templates.ts';

export const createFleet: Operation = (call) => {
  const { params } = call;
  if (!['instant', 'request', 'maintain'].includes(params.text('Type') ?? 'maintain')) {
    throw new AwsError('InvalidParameterValue', `Value (${params.text('Type')}) for parameter type is invalid.`);
  }
  if (params.text('Type') !== 'instant') {
    throw new AwsError('UnsupportedOperation', 'This emulator has fleets of type instant only.');
  }
  const capacity = params.at('TargetCapacitySpecification');
  const market: Market = capacity.text('DefaultTargetCapacityType') === 'spot' ? 'spot' : 'on-demand';
  const options = params.at(market === 'spot' ? 'SpotOptions' : 'OnDemandOptions');
  const wanted = Number(capacity.text('TotalTargetCapacity'));
  const atLeast = Number(options.text('MinTargetCapacity') ?? 0);
  const oneZone = options.text('SingleAvailabilityZone') === 'true';
  if (atLeast > 0 && !oneZone && options.text('SingleInstanceType') !== 'true') {
    throw new AwsError(
      'InvalidParameterCombination',
      'MinTargetCapacity needs SingleAvailabilityZone or SingleInstanceType.',
    );
  }
  checkFleet(params, market, wanted);
  checkZones(call.region, params);
  const [config] = params.items('LaunchTemplateConfigs');
  if (config === undefined) throw new AwsError('MissingParameter', 'LaunchTemplateConfigs is missing.');
  const specification = config.at('LaunchTemplateSpecification');
  const template = templateOf(
    call.region,
    specification.text('LaunchTemplateId'),
    specification.text('LaunchTemplateName'),
  );
  checkVersion(template, specification.text('Version'));
  checkLaunchData(call, template.data);
  const order = options.text('AllocationStrategy') === 'prioritized' ? byPriority : byPrice;
  const pools = poolsOf(call, config.items('Overrides'), template.data, market).sort(order);
  const problem = spotTagsProblem(market, template.data, readLaunchData(params));
  const wrong = pools.flatMap((pool) => {
    const mismatch = architectureProblem(call.region, pool.type, template.data);
    return mismatch === null ? [] : [{ pool, ...mismatch }];
  });
  const right = pools.filter((pool) => !wrong.some((each) => each.pool === pool));
  const outcome = problem === null ? drawn(call, right, wanted, oneZone) : refusedBy(pools, problem);
  const { taken } = outcome;
  const errors = [...wrong, ...outcome.errors];
  const total = taken.reduce((sum, { count }) => sum + count, 0);
  const fleet = hexId('fleet');
  const given = total < atLeast ? [] : taken;
  const sets = given.map(({ pool, count }) => ({
    pool,
    instances: launch(call, pool, count, template.data, fleet),
  }));
  return {
    fleetId: fleet,
    errorSet: errors.map((error) => shownError(error, template.id)),
    fleetInstanceSet: sets.map(({ pool, instances }) => ({
      launchTemplateAndOverrides: shownPool(pool, template.id),
      lifecycle: pool.market,
      instanceIds: instances.map(({ id }) => id),
      instanceType: pool.type,
    })),
  };
};

export const runInstances: Operation = (call) => {
  const { pool, data } = requestedRun(call);
  const atMost = Number(call.params.text('MaxCount'));
  const { taken, errors } = allocate(call.region, [pool], atMost, call.nowMs);
  const fits = taken[0]?.count ?? 0;
  const [problem] = errors;
  if (fits < Number(call.params.text('MinCount'))) {
    const code = problem?.code ?? 'InsufficientInstanceCapacity';
    throw new AwsError(code, problem?.message ?? '', code === 'InsufficientInstanceCapacity' ? 500 : 400);
  }
  const instances = launch(call, pool, fits, data, null);
  return { ...shownReservation(call, instances) };
};

/** The pool and data of a request. A dry run of a wrong request is refused as the request itself is; a dry run does not check capacity. */
export function requestedRun(call: Call): { pool: Pool; data: TemplateData } {
  const { params } = call;
  const template = params.at('LaunchTemplate');
  const own = readLaunchData(params);
  const data = template.isEmpty
    ? own
    : withInterface(
        templateOf(call.region, template.text('LaunchTemplateId'), template.text('LaunchTemplateName')).data,
        own,
      );
  if (!template.isEmpty) {
    const named = templateOf(call.region, template.text('LaunchTemplateId'), template.text('LaunchTemplateName'));
    checkVersion(named, template.text('Version'));
  }
  checkLaunchData(call, data);
  const face = params.items('NetworkInterface')[0];
  if (params.text('SubnetId') !== null && (face !== undefined || data.hasInterface)) {
    throw new AwsError(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level subnet ID may not be specified on the same request',
    );
  }
  const subnet = subnetOf(call, params.text('SubnetId') ?? face?.text('SubnetId') ?? null);
  const stranger = data.securityGroups.find(
    (id) => (call.region.groups.get(id)?.vpc ?? defaultVpc(call)) !== subnet.vpc,
  );
  if (stranger !== undefined) {
    const message = `Security group ${stranger} and subnet ${subnet.id} belong to different networks.`;
    throw new AwsError('InvalidParameter', message);
  }
  const market: Market = params.at('InstanceMarketOptions').text('MarketType') === 'spot' ? 'spot' : 'on-demand';
  const refusal = spotTagsProblem(market, data, own);
  if (refusal !== null) throw new AwsError(refusal.code, refusal.message);
  const type = params.text('InstanceType') ?? data.instanceType ?? 'm5.large';
  if (!instanceTypes.has(type))
    throw new AwsError('InvalidParameterValue', `Invalid value '${type}' for InstanceType.`);
  const mismatch = architectureProblem(call.region, type, data);
  if (mismatch !== null) throw new AwsError(mismatch.code, mismatch.message);
  const [least, most] = [Number(params.text('MinCount')), Number(params.text('MaxCount'))];
  if (!(least >= 1 && most >= least)) {
    throw new AwsError(
      'InvalidParameterValue',
      `Invalid value for maxCount. Must be at least minCount, which is at least 1.`,
    );
  }
  return { pool: { type, subnet, market, priority: 0 }, data };
}

const defaultVpc = ({ region }: Call): string => `vpc-${region.name}`;

type Allocation = ReturnType<typeof allocate>;

const drawn = (call: Call, pools: Pool[], wanted: number, oneZone: boolean): Allocation =>
  oneZone ? bestZone(call, pools, wanted) : allocate(call.region, pools, wanted, call.nowMs);

const refusedBy = (pools: Pool[], problem: { code: string; message: string }): Allocation => ({
  taken: [],
  errors: pools.map((pool) => ({ pool, ...problem })),
});

/** A request's network interface replaces the template's entirely. */
function withInterface(template: TemplateData, { hasInterface, securityGroups, publicIp }: TemplateData): TemplateData {
  return hasInterface ? { ...template, hasInterface, securityGroups, publicIp } : template;
}

function poolsOf(call: Call, overrides: Params[], data: TemplateData, market: Market): Pool[] {
  const asked = overrides.length > 0 ? overrides : [null];
  return asked.map((override, index) => ({
    type: override?.text('InstanceType') ?? data.instanceType ?? '',
    subnet: subnetOf(call, override?.text('SubnetId') ?? null),
    market,
    priority: Number(override?.text('Priority') ?? index),
  }));
}

const byPriority = (a: Pool, b: Pool): number => a.priority - b.priority || byPrice(a, b);

/** The zone with the most capacity; among equals the one whose first pool comes first. */
function bestZone(call: Call, pools: Pool[], wanted: number): Allocation {
  const zones = [...new Set(pools.map(({ subnet }) => subnet.zone))];
  const tries = zones.map((zone) =>
    allocate(
      call.region,
      pools.filter(({ subnet }) => subnet.zone === zone),
      wanted,
      call.nowMs,
    ),
  );
  const total = (one: Allocation): number => one.taken.reduce((sum, { count }) => sum + count, 0);
  const [best] = tries.toSorted((a, b) => total(b) - total(a));
  if (best === undefined) return { taken: [], errors: [] };
  // A fleet that met its target reports no errors of the unused zones.
  return total(best) === wanted ? best : { taken: best.taken, errors: tries.flatMap(({ errors }) => errors) };
}

function subnetOf(call: Call, id: string | null): Subnet {
  if (id === null) {
    const [first] = call.region.subnets;
    if (first !== undefined) return first;
  }
  const found = call.region.subnets.find((subnet) => subnet.id === id);
  if (found === undefined) throw new AwsError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
  return found;
}

function launch(call: Call, pool: Pool, count: number, data: TemplateData, fleet: string | null): Instance[] {
  const reservation = hexId('r');
  const tags = { ...data.tags, ...readTags(call, 'instance') };
  const volumeTags = { ...data.volumeTags, ...readTags(call, 'volume') };
  const { type, subnet, market } = pool;
  const clientToken = call.params.text('ClientToken') ?? '';
  const wanted = {
    type,
    zone: subnet.zone,
    market,
    subnet: subnet.id,
    data,
    tags,
    volumeTags,
    reservation,
    clientToken,
    fleet,
  };
  return Array.from({ length: count }, () => call.account.launch(call.region, wanted));
}

const shownPool = (pool: Pool, template: string): Xml => ({
  launchTemplateSpecification: { launchTemplateId: template, version: '1' },
  overrides: { instanceType: pool.type, subnetId: pool.subnet.id, availabilityZone: pool.subnet.zone },
});

const shownError = ({ pool, code, message }: PoolError, template: string): Xml => ({
  launchTemplateAndOverrides: shownPool(pool, template),
  lifecycle: pool.market,
  errorCode: code,
  errorMessage: message,
});
