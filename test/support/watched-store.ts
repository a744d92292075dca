// A store that records its writes of views, and fails them while a test requires it.
import type { RecordStore, Store } from '../../store/store.ts';
import type { RecordKind } from '../../store/admission-port.ts';

export interface Watch {
  /** While set, each write of a view fails. */
  isFailing: boolean;
  failures: number;
  /** Attempted writes, in order. */
  writes: { kind: RecordKind; number: number; version: number; status: string; isFinal: boolean }[];
}

export function watched(store: Store): { store: Store; watch: Watch } {
  const watch: Watch = { isFailing: false, failures: 0, writes: [] };
  const jobs = watchedRecords(store.jobs, 'job', watch);
  const clusters = watchedRecords(store.clusters, 'cluster', watch);
  return { store: { ...store, jobs, clusters }, watch };
}

function watchedRecords<V extends { number: number; status: string }>(
  records: RecordStore<V>,
  kind: RecordKind,
  watch: Watch,
): RecordStore<V> {
  const note = ({ number, status }: V, version: number, isFinal: boolean): void => {
    watch.writes.push({ kind, number, version, status, isFinal });
    if (!watch.isFailing) return;
    watch.failures += 1;
    throw new Error('the database is unavailable');
  };
  return {
    ...records,
    project: async (input) => {
      note(input.view, input.version, false);
      await records.project(input);
    },
    end: async (input) => {
      note(input.view, input.version, true);
      await records.end(input);
    },
  };
}
