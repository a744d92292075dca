// The total of an emulated cloud's ledger without disks: by the second, a minute at least, as EC2 and Compute Engine bill; public
// addresses by the second.
import type { LedgerEntry } from '../emulator/ledger.ts';
import type { CloudUnderTest } from '../support/clouds.ts';

const leastMs = 60_000;

export function dollars(
  { priceOf, addressPriceOf }: CloudUnderTest,
  entries: readonly LedgerEntry[],
  nowMs: number,
): number {
  const ends = new Map(entries.flatMap(({ event, id, atMs }) => (event === 'ended' ? [[id, atMs] as const] : [])));
  return entries.reduce((sum, { event, id, type, market: name, atMs, hasPublicIp }) => {
    if (event !== 'launched') return sum;
    const market = name === 'spot' ? 'spot' : 'on-demand';
    const ms = (ends.get(id) ?? nowMs) - atMs;
    const ofAddress = hasPublicIp ? ms * addressPriceOf(market) : 0;
    return sum + (Math.max(leastMs, ms) * priceOf(type, market) + ofAddress) / 3_600_000;
  }, 0);
}
