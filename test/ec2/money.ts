// What a ledger of the emulated cloud comes to: by the second, a minute at least, as EC2 bills.
import type { LedgerEntry } from '../emulator/ledger.ts';
import { instanceTypes, priceOf } from '../emulator/types.ts';

const leastMs = 60_000;

export function dollars(entries: readonly LedgerEntry[], nowMs: number): number {
  const ends = new Map(entries.flatMap(({ event, id, atMs }) => (event === 'ended' ? [[id, atMs] as const] : [])));
  const hours = (id: string, fromMs: number): number => Math.max(leastMs, (ends.get(id) ?? nowMs) - fromMs) / 3_600_000;
  return entries.reduce((sum, { event, id, type, market, atMs }) => {
    const known = instanceTypes.get(type);
    if (event !== 'launched' || known === undefined) return sum;
    return sum + hours(id, atMs) * priceOf(known, market === 'spot' ? 'spot' : 'on-demand');
  }, 0);
}
