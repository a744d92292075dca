// Where an agent's lines go: the service of its cloud, behind two calls. Every answer becomes one word that says what is to be
// done next.
import type { LogEvent } from './log-queue.ts';

export type PutOutcome =
  | { kind: 'taken' }
  /** The place does not exist. */
  | { kind: 'missing' }
  | { kind: 'again'; text: string }
  /** A repeat would be refused too. */
  | { kind: 'refused'; text: string };

export interface LogsApi {
  put(events: LogEvent[]): Promise<PutOutcome>;
  /** Creates the place, where the service has places. */
  create(): Promise<PutOutcome>;
}
