// How long the API as a whole has heard agents and stored it. Each replica keeps a row with its last write; an agent counts as silent only for time
// that all replicas cover. Pure: time is a parameter. Ages are measured by the database's clock, because the clocks of hosts may differ.
import { agentAttemptMs, agentMaxPauseMs } from './limits.ts';

/** The database row of an API replica. */
export interface ReplicaRow {
  replica: string;
  /** Time since it last wrote which agents it had heard. */
  wroteAgoMs: number;
  /** Time since it began to listen and write without a gap. */
  sinceAgoMs: number;
}

/** A replica renews its row at this interval, also when it has heard no agent. */
export const replicaNoteEveryMs = 10_000;
/** Three notes are missing: newer reports to this replica may exist only in its memory. */
const writtenWithinMs = 3 * replicaNoteEveryMs;
/**
 * A replica that has written nothing for this long has ended. A load balancer needs less to stop routing agents to a replica that is not ready, and a
 * replica without its database is not ready.
 */
export const replicaEndedAfterMs = 600_000;

/** After an outage of the API, it hears a live agent within this time: the agent's last attempt may hang, then it pauses. */
export const heardAgainWithinMs = agentAttemptMs + 2 * agentMaxPauseMs;

/**
 * How long all replicas have heard agents and stored it, in milliseconds. 0 when no replica has written recently, or when one that may still be
 * hearing agents has not.
 */
export function listeningOfAllMs(replicas: readonly ReplicaRow[]): number {
  const open = replicas.filter(({ wroteAgoMs }) => wroteAgoMs < replicaEndedAfterMs);
  const isWriting = open.length > 0 && open.every(({ wroteAgoMs }) => wroteAgoMs <= writtenWithinMs);
  if (!isWriting) return 0;
  return Math.max(0, Math.min(...open.map(({ sinceAgoMs }) => sinceAgoMs)));
}

/** Whether a silence of `silentAfterMs` is the agent's own: time in which the API could not hear it does not count. */
export const isSilenceKnown = (silentAfterMs: number, listeningMs: number): boolean =>
  listeningMs >= Math.max(silentAfterMs, heardAgainWithinMs);
