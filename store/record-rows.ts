// Rows of jobs and clusters.
import type { Moment } from '../domain/cluster/history.ts';
import type { CostInterval } from '../domain/cost/interval.ts';
import type { IdleGpus } from '../domain/gpu-use.ts';
import type { RecordState, StoredRecord } from './store.ts';
import type { RecordKind, Startable } from './admission-port.ts';
import type { RecordTable } from './tables.ts';
import { searchable, storable } from './text.ts';

/** The common fields of both kinds of views. */
export interface AnyView {
  number: number;
  workspace: string;
  name: string;
  user: string;
  status: string;
  endedAtMs: number | null;
  /** A number in a job's view, a list in a cluster's. */
  instances: unknown;
  reason?: { code: string; text: string } | null;
  /** Only in a job's view. */
  tasks?: { total: number; done: number; error: number; cancelled: number };
  command?: string;
  /** Only in a cluster's view. */
  createdAtMs?: number;
  target?: number;
  /** Only in the view of a job's cluster. */
  job?: number | null;
  /** Only in a cluster's view. */
  gpus?: IdleGpus | null;
  /** Only in a Dask cluster's view. */
  dask?: { idleSinceMs: number | null; idleWarned?: true } | null;
  /** Only in a cluster's view: stored in the cost ledger, never in the row. */
  costs?: readonly CostInterval[];
  /** Only in a cluster's view: stored in its history. */
  history?: readonly Moment[];
}

export interface NewRecord {
  kind: RecordKind;
  number: number;
  workspace: string;
  job?: number | null;
  retryOf?: number;
  name: string;
  user: string;
  state: RecordState;
  admissionId: string;
  specRef: string;
  privateToCreator: boolean;
  command: string;
  instances: number;
  hostQueue?: string | null;
  /** Only affects the order of starts. */
  priority?: number;
  createdAtMs: number;
}

export const newRecord = (record: NewRecord): RecordTable => ({
  kind: record.kind,
  number: record.number,
  workspace: record.workspace,
  job: record.job ?? null,
  retry_of: record.retryOf ?? null,
  name: record.name,
  user_name: record.user,
  state: record.state,
  admission_id: record.admissionId,
  spec_ref: record.specRef,
  is_private: record.privateToCreator ? 1 : 0,
  command: storable(record.command),
  search_name: searchable(record.name).slice(0, maxSearchedName),
  search_command: searchable(record.command).slice(0, maxSearchedCommand),
  status: 'pending',
  instances: record.instances,
  created_at_ms: record.createdAtMs,
  ended_at_ms: null,
  claimed_until_ms: null,
  host_queue: record.hostQueue ?? null,
  priority: record.priority ?? 0,
  missing_since_ms: null,
  held: null,
  refusal: null,
  view_version: 0,
  view_at_ms: null,
  view: null,
});

export const recordOf = <V>(row: RecordTable): StoredRecord<V> => ({
  number: row.number,
  workspace: row.workspace,
  job: row.job,
  name: row.name,
  user: row.user_name,
  state: row.state,
  admissionId: row.admission_id,
  specRef: row.spec_ref,
  privateToCreator: row.is_private === 1,
  command: row.command,
  status: row.status,
  instances: row.instances,
  hostQueue: row.host_queue,
  createdAtMs: row.created_at_ms,
  endedAtMs: row.ended_at_ms,
  refusal: row.refusal === null ? null : (JSON.parse(row.refusal) as StoredRecord<V>['refusal']),
  view: viewOf<V>(row.view),
  viewVersion: row.view_version,
  viewAtMs: row.view_at_ms,
});

export const startableColumns = [
  ...(['kind', 'number', 'workspace', 'name', 'user_name', 'admission_id', 'spec_ref'] as const),
  ...(['is_private', 'created_at_ms'] as const),
] as const;

export const startableOf = (row: Pick<RecordTable, (typeof startableColumns)[number]>): Startable => ({
  kind: row.kind,
  number: row.number,
  workspace: row.workspace,
  name: row.name,
  user: row.user_name,
  admissionId: row.admission_id,
  specRef: row.spec_ref,
  privateToCreator: row.is_private === 1,
  admittedAtMs: row.created_at_ms,
});

/** The searched prefixes. An index row of PostgreSQL holds 2,704 bytes, and a UTF-16 unit takes at most 3 of them. */
const maxSearchedName = 200;
const maxSearchedCommand = 400;

/** This store wrote the views. A damaged one must still not fail its page. */
function viewOf<V>(text: string | null): V | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as V;
  } catch {
    return null;
  }
}
