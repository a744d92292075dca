// Reads EC2's notices: it interrupts a spot instance with two minutes' notice, and sometimes recommends a rebalance before.
// Each notice is reported once. Failed reads are retried.
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import type { Notice } from '../lifecycle/input.ts';
import type { Metadata } from './metadata.ts';

export interface NoticesInput {
  metadata: Metadata;
  signal: AbortSignal;
  onNotice: (notice: Notice) => void;
  onTrouble: (text: string) => void;
  /** The interval that EC2 recommends. */
  everyMs?: number;
}

const checkEveryMs = 5_000;

/** All actions (terminate, stop, hibernate) end the work here. */
const instanceAction = z.object({ action: z.string(), time: z.iso.datetime() });
const recommendation = z.object({ noticeTime: z.iso.datetime() });

/** Runs until the signal aborts; never rejects. */
export async function watchNotices(input: NoticesInput): Promise<void> {
  const { metadata, signal, onNotice, onTrouble, everyMs = checkEveryMs } = input;
  const seen = new Set<Notice['kind']>();
  let isTroubled = false;
  const report = (notice: Notice | null): void => {
    if (notice === null || seen.has(notice.kind) || signal.aborted) return;
    seen.add(notice.kind);
    onNotice(notice);
  };
  while (!signal.aborted && !seen.has('terminate')) {
    try {
      report(await readAction(metadata));
      if (!seen.has('rebalance')) report(await readRecommendation(metadata));
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) onTrouble(`Notices of EC2 cannot be read just now: ${String(error)}`);
      isTroubled = true;
    }
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function readAction(metadata: Metadata): Promise<Notice | null> {
  const text = await metadata.read('latest/meta-data/spot/instance-action');
  return text === null ? null : { kind: 'terminate', at: instanceAction.parse(JSON.parse(text)).time };
}

async function readRecommendation(metadata: Metadata): Promise<Notice | null> {
  const text = await metadata.read('latest/meta-data/events/recommendations/rebalance');
  return text === null ? null : { kind: 'rebalance', at: recommendation.parse(JSON.parse(text)).noticeTime };
}
