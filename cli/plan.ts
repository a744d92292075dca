// How a plan looks on a terminal: what would be launched, in which order it is tried, and what it would cost.
import type { Plan } from '../sdk/client.ts';
import type { CliContext, FormatFlag } from './context.ts';
import { show } from './people.ts';
import { formatTable } from './table.ts';
import type { Column } from './table.ts';

const left = (title: string): Column => ({ title, align: 'left' });
const right = (title: string): Column => ({ title, align: 'right' });
const columns = [
  ...[left('for'), left('type, in the order tried'), right('vCPU'), right('memory'), left('GPU')],
  ...[right('$/h'), right('$/h spot'), left('zones')],
];

/** `head` is what people call the first instance: the scheduler, or the head of a job. */
export function showPlan(context: CliContext, flags: FormatFlag, plan: Plan, head: string): void {
  for (const warning of plan.warnings) context.output.err(`warning: ${warning}`);
  show(context, flags, plan, (found) => formatPlan(found, head));
}

/** `$1.92 an hour if the first choice is had, at most $3.84` */
export function formatPrice({ firstChoice, max }: Plan['pricePerHour']): string {
  if (firstChoice === max) return `${dollars(max)} an hour`;
  return `${dollars(firstChoice)} an hour if the first choice is had, at most ${dollars(max)}`;
}

function formatPlan(plan: Plan, head: string): string {
  const instances = plan.head.count + plan.workers.count;
  if (plan.provider === 'local') {
    return `Would run ${instances} ${instances === 1 ? 'instance' : 'instances'} on this machine as it is. It costs nothing.`;
  }
  return [
    formatTable(columns, [...rows(plan.head, head), ...rows(plan.workers, `${plan.workers.count} workers`)]),
    `Zones:   ${plan.zones.join(', ')}${plan.allowCrossZone || plan.zones.length === 1 ? '' : '; all instances in one of them'}`,
    `Markets: ${head} on-demand; workers ${plan.workers.markets.join(', then ')}`,
    `Disks:   ${plan.diskGib} GiB each`,
    `Price:   ${formatPrice(plan.pricePerHour)}`,
    `         ${head} ${span(plan.head.pricePerHour)}, workers ${span(plan.workers.pricePerHour)}; disks, addresses and traffic come on top`,
    `Prices:  ${plan.prices.map(({ market, source, asOf }) => `${market} from ${source}, ${asOf}`).join('; ')}`,
    'Nothing was launched.',
  ].join('\n');
}

const rows = ({ types }: Plan['head'], role: string): string[][] =>
  types.map((type, index) => [
    index === 0 ? role : '',
    type.type,
    String(type.vcpus),
    `${(type.memoryBytes / 2 ** 30).toFixed(1)} GiB`,
    type.gpus === 0 ? '' : `${type.gpus} ${type.gpuName ?? ''}`.trim(),
    cell(type.pricePerHour),
    cell(type.spotPricePerHour),
    type.zones.join(', '),
  ]);

const span = ({ firstChoice, max }: Plan['pricePerHour']): string =>
  firstChoice === max ? dollars(max) : `${dollars(firstChoice)} to ${dollars(max)}`;

const cell = (price: number | null): string => (price === null ? '-' : price.toFixed(4));

const dollars = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
