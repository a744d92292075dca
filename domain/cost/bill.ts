// Compares a cloud's bill with the ledger: by cluster, in the period of the bill.
import { amountIn, type Period } from './amount.ts';
import type { CostInterval } from './interval.ts';

/** One line of a bill with a cluster's tag. */
export interface BillLine extends Period {
  cluster: number;
  what: 'instances' | 'disks' | 'addresses' | 'other';
  /** Millionths of a dollar, with fractions, because lines are small and many. */
  micros: number;
}

export interface BillComparison {
  cluster: number;
  ledger: { instances: number; disks: number; addresses: number };
  billed: { instances: number; disks: number; addresses: number; other: number };
  /** The billed amount minus the ledger's. */
  difference: number;
}

export interface ComparedBill {
  period: Period | null;
  /** By cluster. */
  clusters: BillComparison[];
  total: Omit<BillComparison, 'cluster'>;
}

/** Adds up the lines by cluster as they arrive, so a long bill is never in memory at once. */
export function createBill(): { add: (line: BillLine) => void; compare: (ledger: LedgerByCluster) => ComparedBill } {
  const billed = new Map<number, BillComparison['billed']>();
  let period: Period | null = null;
  return {
    add({ cluster, what, micros, fromMs, untilMs }) {
      const sums = billed.get(cluster) ?? nothingBilled();
      sums[what] += micros;
      billed.set(cluster, sums);
      period = {
        fromMs: Math.min(fromMs, period?.fromMs ?? fromMs),
        untilMs: Math.max(untilMs, period?.untilMs ?? untilMs),
      };
    },
    compare: (ledger) => compareBill(billed, period, ledger),
  };
}

export type LedgerByCluster = ReadonlyMap<number, readonly CostInterval[]>;

function compareBill(
  billed: ReadonlyMap<number, BillComparison['billed']>,
  period: Period | null,
  ledger: LedgerByCluster,
): ComparedBill {
  const numbers = [...new Set([...billed.keys(), ...ledger.keys()])].toSorted((a, b) => a - b);
  const clusters = numbers.flatMap((cluster) => {
    const own = period === null ? noLedger : ledgerIn(ledger.get(cluster) ?? [], period);
    const bill = billed.get(cluster);
    if (bill === undefined && sumOf(own) === 0) return [];
    return [{ cluster, ...compared(own, bill ?? nothingBilled()) }];
  });
  const sum = (of: (line: BillComparison) => number): number => clusters.reduce((all, line) => all + of(line), 0);
  const total = compared(
    {
      instances: sum((line) => line.ledger.instances),
      disks: sum((line) => line.ledger.disks),
      addresses: sum((line) => line.ledger.addresses),
    },
    {
      instances: sum((line) => line.billed.instances),
      disks: sum((line) => line.billed.disks),
      addresses: sum((line) => line.billed.addresses),
      other: sum((line) => line.billed.other),
    },
  );
  return { period, clusters, total };
}

function ledgerIn(intervals: readonly CostInterval[], period: Period): BillComparison['ledger'] {
  const found = { ...noLedger };
  for (const interval of intervals) {
    const whole = amountIn(interval, period).micros;
    const withDisk = amountIn({ ...interval, addressMicrosPerHour: 0 }, period).micros;
    const alone = amountIn({ ...interval, addressMicrosPerHour: 0, diskMicrosPerHour: 0 }, period).micros;
    found.instances += alone;
    found.disks += withDisk - alone;
    found.addresses += whole - withDisk;
  }
  return found;
}

const noLedger: BillComparison['ledger'] = { instances: 0, disks: 0, addresses: 0 };
const nothingBilled = (): BillComparison['billed'] => ({ instances: 0, disks: 0, addresses: 0, other: 0 });
const sumOf = (amounts: Record<string, number>): number => Object.values(amounts).reduce((sum, each) => sum + each, 0);

const compared = (
  ledger: BillComparison['ledger'],
  billed: BillComparison['billed'],
): Omit<BillComparison, 'cluster'> => ({
  ...{ ledger, billed },
  difference: sumOf(billed) - sumOf(ledger),
});
