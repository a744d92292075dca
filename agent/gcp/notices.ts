// Waits for Google's preemption notice: the metadata server holds the request until then. The instance is off 30 s later.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Notice } from '../lifecycle/input.ts';
import type { Metadata } from './metadata.ts';

export interface NoticesInput {
  metadata: Metadata;
  signal: AbortSignal;
  onNotice: (notice: Notice) => void;
  onTrouble: (text: string) => void;
}

/** From Compute Engine's documentation of spot instances. */
const noticeMs = 30_000;
const waitSeconds = 300;
const pauseMs = 2_000;

/** Runs until the signal aborts, or the notice has come; never rejects. */
export async function watchPreemption({ metadata, signal, onNotice, onTrouble }: NoticesInput): Promise<void> {
  let isTroubled = false;
  while (!signal.aborted) {
    try {
      const value = await metadata.waitForChange('instance/preempted', waitSeconds, signal);
      isTroubled = false;
      if (value.trim() === 'TRUE')
        return onNotice({ kind: 'terminate', at: new Date(Date.now() + noticeMs).toISOString() });
    } catch (error) {
      if (signal.aborted) return;
      if (!isTroubled) onTrouble(`The notice of a preemption cannot be read just now: ${String(error)}`);
      isTroubled = true;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
