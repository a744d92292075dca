// What CreateFleet refuses as a whole.
import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';
import type { Market } from '../state.ts';

/** AWS's quota of overrides in one fleet. */
const maxOverrides = 300;
const strategies: Record<Market, string[]> = {
  'on-demand': ['lowest-price', 'prioritized'],
  spot: [
    ...['lowest-price', 'diversified', 'capacity-optimized', 'capacity-optimized-prioritized'],
    'price-capacity-optimized',
  ],
};

export function checkFleet(params: Params, market: Market, wanted: number): void {
  const strategy = params.at(market === 'spot' ? 'SpotOptions' : 'OnDemandOptions').text('AllocationStrategy');
  if (strategy !== null && !strategies[market].includes(strategy)) {
    throw invalid(`Value (${strategy}) for parameter allocationStrategy is invalid.`);
  }
  const type = params.at('TargetCapacitySpecification').text('DefaultTargetCapacityType');
  if (type !== null && !['spot', 'on-demand', 'capacity-block'].includes(type)) {
    throw invalid(`Value (${type}) for parameter defaultTargetCapacityType is invalid.`);
  }
  if (!Number.isInteger(wanted) || wanted < 1) throw invalid('TotalTargetCapacity must be at least 1.');
  const overrides = params.items('LaunchTemplateConfigs').flatMap((config) => config.items('Overrides'));
  if (overrides.length > maxOverrides) {
    throw new AwsError('InvalidFleetConfig', `The fleet has more than ${maxOverrides} overrides.`);
  }
  const pools = overrides.map(
    (each) => `${each.text('InstanceType')} ${each.text('SubnetId')} ${each.text('AvailabilityZone')}`,
  );
  if (new Set(pools).size < pools.length) {
    throw new AwsError('InvalidFleetConfig', 'The fleet configuration contains duplicate instance pools.');
  }
  for (const { version } of versionsIn(params)) {
    if (version === null) throw new AwsError('MissingParameter', 'The launch template has no version.');
  }
}

const versionsIn = (params: Params): { version: string | null }[] =>
  params
    .items('LaunchTemplateConfigs')
    .map((config) => ({ version: config.at('LaunchTemplateSpecification').text('Version') }));

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
