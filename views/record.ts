// Status and reason of a job or cluster from its row alone.
import type { Reason } from '../domain/reason.ts';
import type { StoredRecord } from '../store/store.ts';

/** Returns the status of its last view, even if the view itself can no longer be read. */
export const statusOfRecord = <S extends string>(
  { status, endedAtMs }: StoredRecord<unknown>,
  known: readonly S[],
): S | 'pending' | 'error' => known.find((each) => each === status) ?? (endedAtMs === null ? 'pending' : 'error');

/** Why it has not started, or was refused. A started workflow reports its own reasons. */
export function reasonOfRecord(record: StoredRecord<unknown>): Reason | null {
  const { state, refusal, hostQueue, endedAtMs, createdAtMs } = record;
  if (refusal !== null) return { ...refusal, atMs: endedAtMs ?? createdAtMs };
  if (state !== 'admitted') return null;
  if (hostQueue !== null) return { ...waitsForHost, atMs: createdAtMs };
  return { code: 'STARTING', text: 'Admitted; its workflow starts as soon as Temporal takes it.', atMs: createdAtMs };
}

const waitsForHost = {
  code: 'WAITING_FOR_HOST',
  text: 'Admitted; it starts, by priority and then by number, when this machine has room for it and Temporal takes it.',
};

export const endedFromOutside = (text: string, atMs: number): Reason => ({ code: 'ENDED_FROM_OUTSIDE', text, atMs });
