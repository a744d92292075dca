// Lines of AWS's Cost and Usage report (CUR 2.0, docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html) with
// Ropewalk's tags, which must be activated as cost allocation tags.
import type { BillLine } from '../../domain/cost/bill.ts';
import { RopewalkError } from '../../domain/errors.ts';

type Row = ReadonlyMap<string, string>;

const needed = [
  'line_item_line_item_type',
  'line_item_usage_start_date',
  'line_item_usage_end_date',
  'line_item_usage_type',
  'line_item_unblended_cost',
] as const;

/**
 * The column with the final cost of each line type. Taxes, credits, fees and negations belong to the account, not to a cluster.
 */
const costColumns = new Map([
  ['Usage', 'line_item_unblended_cost'],
  ['DiscountedUsage', 'reservation_effective_cost'],
  ['SavingsPlanCoveredUsage', 'savings_plan_savings_plan_effective_cost'],
]);

/** The columns that `readCurLine` reads; a report has some hundred others. */
export const isCurColumn = (name: string): boolean =>
  [...needed, ...costColumns.values()].some((column) => column === name) || /^resource_?tags/i.test(name);

/**
 * Null for a line without the tags of this deployment's clusters, and for one outside clusters.
 *
 * @throws RopewalkError VALIDATION for a file that is not such a report.
 */
export function readCurLine(row: Row, deploymentId: string, file: string): BillLine | null {
  const missing = needed.filter((column) => !row.has(column));
  if (missing.length > 0) throw noReport(file, `has no column ${missing.join(', ')}`);
  const costColumn = costColumns.get(row.get('line_item_line_item_type') ?? '');
  if (costColumn === undefined) return null;
  const tags = tagsOf(row, file);
  const cluster = Number(tags.get('ropewalkcluster') ?? Number.NaN);
  if (tags.get('ropewalkdeployment') !== deploymentId || !Number.isSafeInteger(cluster)) return null;
  const read = (column: string, parse: (text: string) => number): number => {
    const value = parse(row.get(column) ?? '');
    if (Number.isNaN(value)) throw noReport(file, `has a line with "${row.get(column)}" in its column ${column}`);
    return value;
  };
  const fromMs = read('line_item_usage_start_date', Date.parse);
  const untilMs = read('line_item_usage_end_date', Date.parse);
  const dollars = read(row.get(costColumn) ? costColumn : 'line_item_unblended_cost', Number);
  return { cluster, what: whatOf(row.get('line_item_usage_type') ?? ''), micros: dollars * 1e6, fromMs, untilMs };
}

/** A usage type begins with the code of a region, except in us-east-1: `USE2-BoxUsage:m6i.large`. */
function whatOf(usageType: string): BillLine['what'] {
  if (/(^|-)(Box|Spot|Heavy|Dedicated|Unused)Usage/.test(usageType)) return 'instances';
  if (usageType.endsWith('PublicIPv4:InUseAddress')) return 'addresses';
  return usageType.includes('EBS:Volume') ? 'disks' : 'other';
}

/** One column with JSON, or a column for each tag. AWS writes a key as `user_...`, with its other characters changed. */
function tagsOf(row: Row, file: string): ReadonlyMap<string, string> {
  const nested = row.get('resource_tags');
  const tags = new Map<string, string>();
  if (nested === undefined) {
    for (const [column, value] of row) {
      const [, key] = /^resource_?tags[_/](.+)$/i.exec(column) ?? [];
      if (key !== undefined && value !== '') tags.set(plainKey(key), value);
    }
    return tags;
  }
  if (nested === '') return tags;
  try {
    const read: unknown = JSON.parse(nested);
    for (const [key, value] of Object.entries(Object(read))) tags.set(plainKey(key), String(value));
    return tags;
  } catch {
    throw noReport(file, 'has resource_tags that are no JSON');
  }
}

const plainKey = (key: string): string =>
  key
    .toLowerCase()
    .replace(/^user[_:]/, '')
    .replaceAll(/[^a-z0-9]/g, '');

const noReport = (file: string, why: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    message: `${file} is no Cost and Usage report: it ${why}.`,
    hint: 'Give the Parquet or CSV files of a CUR 2.0 export with resource ids and tags (docs/costs.md).',
  });
