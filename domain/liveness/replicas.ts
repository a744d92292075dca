// For how long the API as a whole has been hearing agents and writing what it heard. Each replica keeps a row that says when it
// wrote last; an agent counts as silent only for time that this covers. Pure: time is a parameter.
// Ages are measured by the database's clock, so that the clocks of hosts may differ.
import { agentAttemptMs, agentMaxPauseMs } from './limits.ts';

/** A replica of the API, as its row in the database has it. */
export interface ReplicaRow {
  replica: string;
  /** How long ago it last wrote which agents it had heard. */
  wroteAgoMs: number;
  /** How long ago it began to listen and write without a gap. */
  sinceAgoMs: number;
}

/** A replica renews its row this often, also when it has heard no agent. */
export const replicaNoteEveryMs = 10_000;
/** Three notes are missing: what this replica has heard since then may be in its memory only. */
const writtenWithinMs = 3 * replicaNoteEveryMs;
/**
 * A replica that has written nothing for this long has ended. It is longer than a load balancer takes to stop sending agents to
 * a replica that is not ready, which a replica without its database is not.
 */
export const replicaEndedAfterMs = 600_000;

/** After an outage of the API, an agent that lives is heard within this time: its last attempt may hang, then it pauses. */
export const heardAgainWithinMs = agentAttemptMs + 2 * agentMaxPauseMs;

/**
 * How long every replica has been hearing agents and writing what it heard, in milliseconds. 0 when no replica has written lately,
 * or when one that may still be hearing agents has not.
 */
export function listeningOfAllMs(replicas: readonly ReplicaRow[]): number {
  const open = replicas.filter(({ wroteAgoMs }) => wroteAgoMs < replicaEndedAfterMs);
  const isWriting = open.length > 0 && open.every(({ wroteAgoMs }) => wroteAgoMs <= writtenWithinMs);
  if (!isWriting) return 0;
  return Math.max(0, Math.min(...open.map(({ sinceAgoMs }) => sinceAgoMs)));
}

/** Whether an agent that was not heard for its silent period has been silent: time in which it could not be heard does not count. */
export const isSilenceKnown = (silentAfterMs: number, listeningMs: number): boolean =>
  listeningMs >= Math.max(silentAfterMs, heardAgainWithinMs);
