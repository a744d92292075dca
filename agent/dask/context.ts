// The shared context of both kinds of instance of a Dask cluster: agent.ts creates it, scheduler.ts and worker.ts use it.
import type { DaskBundle } from '../../schema/agent.ts';
import type { Setup } from './setup.ts';
import type { ExitReason } from './exit-reason.ts';
import type { DaskProcess, Place } from './commands.ts';
import type { RunningProcess } from './run-process.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import type { OrderSubscription } from './order-subscription.ts';
import type { Session } from '../api-client/session.ts';
import type { ProcessReport, Reports } from '../api-client/reports.ts';

export interface DaskLife {
  input: AgentInput;
  session: Session;
  bundle: DaskBundle;
  orders: OrderSubscription;
  reports: Reports;
  /** The process's name in Dask. */
  name: string;
  /** The agent's own directory, removed on termination; contains the processes' directories. */
  work: string;
  notify: (
    state: ProcessReport['state'],
    stage: string,
    more?: Partial<Pick<ProcessReport, 'address' | 'reason'>>,
  ) => void;
  /** For one start of a process, with a new directory. */
  place: (setup: Setup) => Place;
  /** `onLine` gets the process's output lines, which are logged in any case. */
  start: (setup: Setup, command: DaskProcess, onLine?: (line: string) => void) => Promise<RunningProcess>;
  /** Ends the process with its whole group. */
  end: (running: RunningProcess) => Promise<ExitReason>;
  /** null when the agent is stopped first. */
  untilEnded: (running: RunningProcess) => Promise<ExitReason | null>;
}
