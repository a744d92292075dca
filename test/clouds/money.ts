// What a ledger of an emulated cloud comes to: by the second, a minute at least, as EC2 and Compute Engine bill.
import type { LedgerEntry } from '../emulator/ledger.ts';
import type { CloudUnderTest } from '../support/clouds.ts';

const leastMs = 60_000;

export function dollars({ priceOf }: CloudUnderTest, entries: readonly LedgerEntry[], nowMs: number): number {
  const ends = new Map(entries.flatMap(({ event, id, atMs }) => (event === 'ended' ? [[id, atMs] as const] : [])));
  const hours = (id: string, fromMs: number): number => Math.max(leastMs, (ends.get(id) ?? nowMs) - fromMs) / 3_600_000;
  return entries.reduce((sum, { event, id, type, market, atMs }) => {
    if (event !== 'launched') return sum;
    return sum + hours(id, atMs) * priceOf(type, market === 'spot' ? 'spot' : 'on-demand');
  }, 0);
}
