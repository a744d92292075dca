// `ropewalk bill FILE...`: compares an AWS Cost and Usage report with the cost ledger, cluster by cluster.
import { type ComparedBill, createBill, type BillComparison } from '../../domain/cost/bill.ts';
import type { CostInterval } from '../../domain/cost/interval.ts';
import { dollarsOf } from '../../domain/cost/interval.ts';
import { ec2InstanceId } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { databasePlace } from '../database.ts';
import { reporting, type Said } from '../report.ts';
import { readCsv } from './csv.ts';
import { isCurColumn, readCurLine } from './cur.ts';
import { isParquet, readParquet } from './parquet.ts';

export interface BillOptions {
  env: Record<string, string | undefined>;
  home: string;
  files: readonly string[];
  format: 'table' | 'json';
}

/** Returns the exit code. */
export const runBill = ({ env, home, files, format }: BillOptions, said: Said): Promise<number> =>
  reporting(said, async () => {
    const store = await openStore({ ...databasePlace(env, home), migrate: false });
    try {
      const compared = await compareFiles(store, files);
      if (format === 'json') said.json(toJson(compared));
      else for (const line of toLines(compared)) said.out(line);
      return 0;
    } finally {
      await store.close();
    }
  });

/** @throws RopewalkError VALIDATION for a file that cannot be read, or is not a report. */
export async function compareFiles(
  store: Pick<Store, 'costs' | 'deployment' | 'workspaces'>,
  files: readonly string[],
): Promise<ComparedBill> {
  const deployment = await store.deployment.read();
  const bill = createBill();
  for (const file of files) {
    try {
      const rows = (await isParquet(file)) ? readParquet(file, isCurColumn) : readCsv(file);
      for await (const row of rows) {
        const line = readCurLine(row, deployment?.deploymentId ?? '', file);
        if (line !== null) bill.add(line);
      }
    } catch (error) {
      if (error instanceof RopewalkError) throw error;
      throw new RopewalkError({
        code: 'VALIDATION',
        message: `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
        hint: 'Give whole files of the report: Parquet, or CSV as it is or compressed with gzip.',
      });
    }
  }
  return bill.compare(await readLedger(store));
}

async function readLedger({
  costs,
  workspaces,
}: Pick<Store, 'costs' | 'workspaces'>): Promise<Map<number, CostInterval[]>> {
  const ledger = new Map<number, CostInterval[]>();
  for (const { slug } of await workspaces.list()) {
    await costs.read({ workspace: slug, sinceMs: 0 }, (entries) => {
      for (const entry of entries) {
        if (!ec2InstanceId.test(entry.instance)) continue;
        ledger.set(entry.cluster, [...(ledger.get(entry.cluster) ?? []), entry]);
      }
    });
  }
  return ledger;
}

function toJson({ period, clusters, total }: ComparedBill): unknown {
  const dollars = (of: Record<string, number>) =>
    Object.fromEntries(Object.entries(of).map(([what, micros]) => [what, rounded(micros)]));
  const line = ({ ledger, billed, difference }: Omit<BillComparison, 'cluster'>) => ({
    ...{ ledger: dollars(ledger), billed: dollars(billed), difference: rounded(difference) },
  });
  return {
    since: period === null ? null : new Date(period.fromMs).toISOString(),
    until: period === null ? null : new Date(period.untilMs).toISOString(),
    clusters: clusters.map((each) => ({ cluster: each.cluster, ...line(each) })),
    total: line(total),
  };
}

const columnWidth = 14;

/** US dollars, rounded to a millionth. */
const rounded = (micros: number): number => dollarsOf(Math.round(micros));

function toLines({ period, clusters, total }: ComparedBill): string[] {
  if (period === null)
    return ['The report has no line with the tags of this deployment. Are they activated as cost allocation tags?'];
  const [from, until] = [period.fromMs, period.untilMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
  const row = (name: string, { ledger, billed, difference }: Omit<BillComparison, 'cluster'>): string =>
    [
      name.padEnd(10),
      ...[
        ...[ledger.instances, billed.instances, ledger.disks, billed.disks, ledger.addresses, billed.addresses],
        ...[billed.other, difference],
      ].map((micros) => rounded(micros).toFixed(2).padStart(columnWidth)),
    ].join('');
  const titles = ['instances', 'billed', 'disks', 'billed', 'addresses', 'billed', 'other billed', 'difference'];
  return [
    `US dollars from ${from} to ${until} UTC: the ledger, and what AWS has billed`,
    ['cluster'.padEnd(10), ...titles.map((title) => title.padStart(columnWidth))].join(''),
    ...clusters.map((each) => row(String(each.cluster), each)),
    row('total', total),
  ];
}
