// Plans on a terminal: the planned instances, the order of attempts, and the price.
import type { Plan } from '../sdk/client.ts';
import type { CliContext, FormatFlag } from './context.ts';
import { show } from './people.ts';
import { formatTable } from './table.ts';
import { typeCells, typeColumns } from './type-cells.ts';

/** `head` is the user's word for the first instance: `scheduler`, or `head` of a job. */
export function showPlan(context: CliContext, flags: FormatFlag, plan: Plan, head: string): void {
  for (const warning of plan.warnings) context.output.err(`warning: ${warning}`);
  show(context, flags, plan, (found) => formatPlan(found, head));
}

/** `$1.92 per hour with the first choice, at most $3.84` */
export function formatPrice({ firstChoice, max }: Plan['pricePerHour']): string {
  if (firstChoice === null) return 'unknown: no table has the price of the first choice in this region';
  if (max === null) return `${dollars(firstChoice)} per hour with the first choice; that of others is unknown`;
  if (firstChoice === max) return `${dollars(max)} per hour`;
  return `${dollars(firstChoice)} per hour with the first choice, at most ${dollars(max)}`;
}

function formatPlan(plan: Plan, head: string): string {
  const instances = plan.head.count + plan.workers.count;
  if (plan.prices.length === 0) {
    const what = counted(instances, 'instance');
    return `Would run ${what} with the provider ${plan.provider}, which has one kind of machine. It costs nothing.`;
  }
  const { workers, zones, allowCrossZone } = plan;
  const alone = workers.count === 0;
  const oneOfThem = allowCrossZone || zones.length === 1 || alone ? '' : '; all instances in one of them';
  return [
    formatTable(
      [{ title: 'in order of attempts', align: 'left' }, ...typeColumns],
      [...rows(plan.head, head), ...(alone ? [] : rows(workers, counted(workers.count, 'worker')))],
    ),
    ...(plan.region === null ? [] : [`Region:  ${plan.region}`]),
    `Zones:   ${zones.join(', ')}${oneOfThem}`,
    `Markets: ${head} on-demand${alone ? '' : `; workers ${workers.markets.join(', then ')}`}`,
    `Disks:   ${plan.diskGib} GiB each`,
    `Price:   ${formatPrice(plan.pricePerHour)}`,
    `         ${alone ? '' : `${head} ${span(plan.head.pricePerHour)}, workers ${span(workers.pricePerHour)}; `}${more}`,
    `Prices:  ${plan.prices.map(({ market, source, asOf }) => `${market} from ${source}, ${asOf}`).join('; ')}`,
    'Nothing was launched.',
  ].join('\n');
}

const more = 'public addresses are included, disks and traffic are extra';
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const rows = ({ types }: Plan['head'], role: string): string[][] =>
  types.map((type, index) => [index === 0 ? role : '', ...typeCells(type)]);

const span = ({ firstChoice, max }: Plan['pricePerHour']): string =>
  firstChoice === max ? dollars(max) : `${dollars(firstChoice)} to ${dollars(max)}`;

const dollars = (amount: number | null): string =>
  amount === null ? 'unknown' : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
