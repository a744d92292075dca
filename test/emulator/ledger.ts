// Every instance that ever existed, in an append-only list: tests compare it with the product's own records.
import { appendFileSync } from 'node:fs';

import type { Instance } from './state.ts';

export interface LedgerEntry {
  atMs: number;
  event: 'launched' | 'ended';
  id: string;
  type: string;
  zone: string;
  market: string;
  /** The caller's id of the request: a client token of EC2, a request id of Compute Engine. */
  clientToken: string;
  /** Tags of EC2, labels of Compute Engine. */
  tags: Record<string, string>;
  /** It has a public IPv4 address, which is billed too. */
  hasPublicIp: boolean;
  why: string;
}

export interface Ledger {
  note(event: LedgerEntry['event'], instance: Instance, atMs: number, why: string): void;
  entries(): readonly LedgerEntry[];
}

/** With a path, each entry is also a line of that file, written before any answer shows it. */
export function createLedger(path: string | null): Ledger {
  const entries: LedgerEntry[] = [];
  return {
    note(event, { id, type, zone, market, clientToken, tags, publicIp }, atMs, why) {
      const entry = { atMs, event, id, type, zone, market, clientToken, tags, hasPublicIp: publicIp !== null, why };
      entries.push(entry);
      if (path !== null) appendFileSync(path, `${JSON.stringify(entry)}\n`);
    },
    entries: () => entries,
  };
}
