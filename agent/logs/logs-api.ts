// The log service of an agent's cloud, behind two calls. Every answer becomes one outcome that determines the next step.
import type { LogEvent } from './log-queue.ts';

export type PutOutcome =
  | { kind: 'taken' }
  /** The destination does not exist. */
  | { kind: 'missing' }
  | { kind: 'again'; text: string }
  /** A repeat would be refused too. */
  | { kind: 'refused'; text: string };

export interface LogsApi {
  put(events: LogEvent[]): Promise<PutOutcome>;
  /** Creates the destination, where the service needs one. */
  create(): Promise<PutOutcome>;
}
