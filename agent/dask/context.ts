// What both kinds of instance of a Dask cluster work with: agent.ts makes it, scheduler.ts and worker.ts use it.
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
  /** A directory of the agent's own, gone when the instance has been terminated: processes have theirs in it. */
  work: string;
  notify: (
    state: ProcessReport['state'],
    stage: string,
    more?: Partial<Pick<ProcessReport, 'address' | 'reason'>>,
  ) => void;
  /** For one start of a process: no other one has its directory. */
  place: (setup: Setup) => Place;
  /** `onLine` sees what the process prints; its log has it in any case. */
  start: (setup: Setup, command: DaskProcess, onLine?: (line: string) => void) => Promise<RunningProcess>;
  /** Ends it with its whole group. */
  end: (running: RunningProcess) => Promise<ExitReason>;
  /** null when the agent is stopped first. */
  untilEnded: (running: RunningProcess) => Promise<ExitReason | null>;
}
