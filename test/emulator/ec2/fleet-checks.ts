// CreateFleet's refusals of a whole request.
import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';
import type { Market, Region } from '../state.ts';

/** AWS's quota of overrides in one fleet. */
const maxOverrides = 300;
/** The bounds of TotalTargetCapacity and MinTargetCapacity of an instant fleet (API reference). */
const maxCapacity = 10_000;
const maxLeastCapacity = 1_000;
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
  if (wanted > maxCapacity) throw invalid(`TotalTargetCapacity must be at most ${maxCapacity}.`);
  const options = params.at(market === 'spot' ? 'SpotOptions' : 'OnDemandOptions');
  const least = Number(options.text('MinTargetCapacity') ?? 0);
  if (least > Math.min(wanted, maxLeastCapacity))
    throw invalid(`MinTargetCapacity must be at most ${maxLeastCapacity}, and not more than the target capacity.`);
  const ends = options.text('InstanceInterruptionBehavior');
  if (ends !== null && !['hibernate', 'stop', 'terminate'].includes(ends))
    throw invalid(`Value (${ends}) for parameter instanceInterruptionBehavior is invalid.`);
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
  const wrong = overrides.find((each) => !/^\d+(\.0)?$/.test(each.text('Priority') ?? '0'));
  if (wrong !== undefined) throw invalid(`Priority (${wrong.text('Priority')}) must be a whole number from 0.`);
  for (const config of params.items('LaunchTemplateConfigs')) {
    const template = config.at('LaunchTemplateSpecification');
    if (template.text('Version') === null)
      throw new AwsError('MissingParameter', 'The launch template has no version.');
    if (template.text('LaunchTemplateId') !== null && template.text('LaunchTemplateName') !== null)
      throw new AwsError('InvalidParameterCombination', 'Specify the launch template ID or its name, but not both.');
  }
}

/** A subnet is in one zone. */
export function checkZones({ subnets }: Region, params: Params): void {
  for (const override of params.items('LaunchTemplateConfigs').flatMap((config) => config.items('Overrides'))) {
    const zone = override.text('AvailabilityZone');
    const subnet = subnets.find(({ id }) => id === override.text('SubnetId'));
    if (zone !== null && subnet !== undefined && subnet.zone !== zone)
      throw invalid(`The subnet ${subnet.id} is not in the Availability Zone ${zone}.`);
  }
}

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
