// AWS's public price list of EC2 in one region: a CSV file of some hundred megabytes, read line by line.
import { RopewalkError } from '../../../domain/errors.ts';

export interface RegionPrices {
  /** RFC 3339 date. */
  asOf: string;
  source: string;
  /** Maps an instance type to US dollars per hour: Linux, shared tenancy, on demand, no pre-installed software. */
  prices: Map<string, number>;
}

const wanted: Readonly<Record<string, string>> = {
  TermType: 'OnDemand',
  Unit: 'Hrs',
  Currency: 'USD',
  Tenancy: 'Shared',
  'Operating System': 'Linux',
  'Pre Installed S/W': 'NA',
  CapacityStatus: 'Used',
};

/**
 * Reads `offers/v1.0/aws/AmazonEC2/current/{region}/index.csv`.
 *
 * @throws RopewalkError VALIDATION when the publication date or a column is missing: the file format has changed.
 */
export async function readPriceList(lines: AsyncIterable<string> | Iterable<string>): Promise<RegionPrices> {
  const prices = new Map<string, number>();
  let asOf = '';
  let columns: Map<string, number> | undefined;
  for await (const line of lines) {
    const cells = cellsOf(line);
    if (columns !== undefined) {
      const found = rowOf(cells, columns);
      if (found !== null) prices.set(found.type, found.dollars);
    } else if (cells[0] === 'Publication Date') asOf = (cells[1] ?? '').slice(0, 10);
    else if (cells[0] === 'SKU') columns = columnsOf(cells);
  }
  if (columns === undefined) throw otherForm('a line that begins with SKU');
  if (!/^\d{4}-\d\d-\d\d$/.test(asOf)) throw otherForm('a publication date');
  return { asOf, source: "AWS's public price list", prices };
}

function columnsOf(cells: readonly string[]): Map<string, number> {
  const columns = new Map(cells.map((name, index) => [name, index]));
  for (const name of [...Object.keys(wanted), 'Instance Type', 'PricePerUnit']) {
    if (!columns.has(name)) throw otherForm(`the column ${name}`);
  }
  return columns;
}

/** Null for every other tenancy, system or term, and for a price of 0, which capacity reservations have. */
function rowOf(
  cells: readonly string[],
  columns: ReadonlyMap<string, number>,
): { type: string; dollars: number } | null {
  const cell = (name: string): string => cells[columns.get(name) ?? -1] ?? '';
  if (Object.entries(wanted).some(([name, value]) => cell(name) !== value)) return null;
  const [type, dollars] = [cell('Instance Type'), Number(cell('PricePerUnit'))];
  return type.includes('.') && dollars > 0 ? { type, dollars } : null;
}

/** The cells of one line; quotes within a quoted cell are doubled. */
export const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );

const otherForm = (what: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    message: `The price list lacks ${what}.`,
    hint: 'Compare providers/aws/prices/price-list.ts with the file that AWS publishes today.',
  });
