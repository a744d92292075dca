// Writes a workflow's view, and a cluster's usage, to the database beside the workflow's loop. At most one write is under way. A failed write is
// repeated later with the state of that time.
import { log } from '@temporalio/workflow';

import type { Usage } from '../domain/cluster/usage-note.ts';
import {
  nextVersion,
  projectionDue,
  projectionDueMs,
  projectionFailed,
  projectionWritten,
  type Projection,
  type Shown,
} from '../domain/projection.ts';
import { plural } from '../domain/units.ts';
import { earliest, type Wake } from '../domain/wake.ts';
import { bounded } from './activities.ts';

export interface RecordSource {
  projection: Projection;
  shown: () => Shown;
  writeView: (version: number) => Promise<void>;
  usage?: { next: () => Usage | null; wasNoted: (usage: Usage) => void };
  /** Called after each write, successful or failed. */
  onEnd: () => void;
}

export interface RecordWriter {
  /** Null while a write is under way and while there is nothing to write. */
  nextWrite: () => Wake | null;
  beginIfDue: (nowMs: number) => void;
  isBusy: () => boolean;
}

export function createRecordWriter(source: RecordSource): RecordWriter {
  const { projection, shown, usage } = source;
  let isBusy = false;
  const nextWrite = (): Wake | null => {
    if (isBusy) return null;
    const viewMs = projectionDueMs(projection, shown());
    const usageMs = (usage?.next() ?? null) === null ? null : projection.retryAtMs;
    return earliest(
      [viewMs, usageMs].map((atMs) =>
        atMs === null ? null : { atMs, what: 'its view is written to the database at' },
      ),
    );
  };
  const write = async (nowMs: number): Promise<void> => {
    const used = usage?.next() ?? null;
    if (used !== null) {
      await bounded.noteUsage.executeWithOptions({ summary: `note the usage: ${plural(used.instances, 'instance')}` }, [
        used,
      ]);
      usage?.wasNoted(used);
    }
    const now = shown();
    if (!projectionDue(projection, now, nowMs)) return;
    await source.writeView(nextVersion(projection));
    projectionWritten(projection, now, nowMs);
  };
  return {
    nextWrite,
    beginIfDue(nowMs) {
      const next = nextWrite();
      if (next === null || next.atMs > nowMs) return;
      isBusy = true;
      void write(nowMs)
        .catch((error: unknown) => {
          log.warn('the database could not be written', { error: String(error) });
          projectionFailed(projection, Date.now());
        })
        .finally(() => {
          isBusy = false;
          source.onEnd();
        });
    },
    isBusy: () => isBusy,
  };
}
