// Reports this instance to the control plane: changes at once, otherwise a periodic liveness report. Only one report is in
// flight; later changes go with the next. Events stay queued until they are acknowledged; of states only the latest one is
// sent, as of the moment of sending.
import { jsonBy } from './client.ts';
import { maxNotesOfReport, reportAnswerBody } from '../../schema/agent.ts';
import type { Orders, ReportRequest } from '../../schema/agent.ts';
import { createNotifier } from '../async/notifier.ts';
import type { AgentInput, Notice } from '../lifecycle/input.ts';
import type { Session } from './session.ts';

export type ProcessReport = NonNullable<ReportRequest['process']>;
export type SchedulerReport = NonNullable<ReportRequest['scheduler']>;
export type GpuReport = NonNullable<ReportRequest['gpus']>;
export type NoteReport = NonNullable<ReportRequest['notes']>[number];
export type DrainReport = NonNullable<ReportRequest['drained']>[number];

export interface Reports {
  process: (pending: ProcessReport) => void;
  /**
   * `make` is called at each attempt, since an outage may last, with the number of attempts refused for their content: each new
   * report must be smaller.
   */
  scheduler: (make: (refusals: number) => SchedulerReport) => void;
  drained: (pending: DrainReport) => void;
  /** `make` returns how long the scheduler has not answered, or null when it answers. */
  unanswered: (make: () => number | null) => void;
  /** `make` returns the GPU report of that moment. */
  gpus: (make: () => GpuReport) => void;
  notice: (notice: Notice) => void;
  /** For the events of the cluster. */
  note: (note: NoteReport) => void;
  /** Reports that this instance does no more work, and ends the agent once that is acknowledged. */
  leave: (order: { code: string; text: string }) => void;
  /** Sends until the agent is stopped. */
  run: () => Promise<void>;
}

export interface ReportsInput extends Pick<AgentInput, 'bootId' | 'boot' | 'stopping'> {
  session: Session;
  aliveEveryMs: number;
  /** Called with the orders in the answers. */
  onOrders?: (orders: Orders) => void;
}

interface Pending {
  process: ProcessReport | null;
  scheduler: { make: (refusals: number) => SchedulerReport } | null;
  unanswered: { make: () => number | null } | null;
  gpus: { make: () => GpuReport } | null;
  drained: readonly DrainReport[];
  notes: readonly NoteReport[];
  interruption: Notice | null;
  leaving: { code: string; text: string } | null;
}

export function createReports({ bootId, boot, stopping, session, aliveEveryMs, onOrders }: ReportsInput): Reports {
  const notifier = createNotifier(stopping.signal);
  let pending: Pending = {
    process: null,
    scheduler: null,
    unanswered: null,
    gpus: null,
    drained: [],
    notes: [],
    interruption: null,
    leaving: null,
  };
  const add = (more: Partial<Pending>): void => {
    pending = { ...pending, ...more };
    notifier.ring();
  };
  const send = async (): Promise<boolean> => {
    let said = pending;
    let refusals = 0;
    const body = (): unknown => {
      said = afterRefusals(pending, refusals);
      const { leaving } = said;
      const kind = leaving === null ? 'alive' : 'leaving';
      return { kind, bootId, address: boot.address, text: leaving?.text ?? '', ...wireOf(said, refusals) };
    };
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/report',
      body,
      onRefused: (isOurs) => {
        refusals += 1;
        const parts = partsOf({ ...said, leaving: null });
        if (refusals < refusalsBeforeDrop || parts.length === 0) return null;
        // A proxy may refuse any request for any time, so everything is retried, first in full.
        if (!isOurs) {
          refusals = 0;
          return null;
        }
        pending = stillPending(pending, said);
        refusals = 1;
        return `A report is not accepted in any form, and is given up (${parts.join()}).`;
      },
      read: jsonBy((json) => reportAnswerBody.parse(json)),
    });
    if (answer === null) return false;
    pending = stillPending(pending, said);
    session.renew(answer.token);
    if (said.leaving !== null) stopping.abort(said.leaving);
    else if (answer.stop !== null) stopping.abort(answer.stop);
    else if (answer.orders !== null) onOrders?.(answer.orders);
    return true;
  };
  return {
    process: (process) => add({ process }),
    scheduler: (make) => add({ scheduler: { make } }),
    drained: (drained) => add({ drained: [...pending.drained, drained] }),
    unanswered: (make) => add({ unanswered: { make } }),
    gpus: (make) => add({ gpus: { make } }),
    note: (note) => add({ notes: [...pending.notes, note].slice(-maxNotesOfReport) }),
    notice: (interruption) => add({ interruption }),
    leave: (leaving) => add({ leaving }),
    run: async () => {
      // The registration has just reported liveness.
      for (let spokeAtMs = performance.now(); !stopping.signal.aborted;) {
        const isDue = hasPending(pending) || performance.now() >= spokeAtMs + aliveEveryMs;
        if (!isDue) {
          await notifier.wait(spokeAtMs + aliveEveryMs - performance.now());
          continue;
        }
        if (!(await send())) return;
        spokeAtMs = performance.now();
      }
    },
  };
}

/** About half a minute including pauses, so that a proxy's short misconfiguration loses no report. */
const refusalsBeforeDrop = 6;

/**
 * The parts of a refused report are sent one by one, so one part does not block the others, and a scheduler report lists fewer
 * workers.
 */
function afterRefusals(pending: Pending, refusals: number): Pending {
  if (refusals === 0) return pending;
  const none = {
    process: null,
    scheduler: null,
    unanswered: null,
    gpus: null,
    drained: [],
    notes: [],
    interruption: null,
  };
  const { process, scheduler, unanswered, gpus, drained, notes, interruption, leaving } = pending;
  if (process !== null) return { ...none, process, leaving: null };
  if (drained.length > 0) {
    return { ...none, drained: drained.slice(0, Math.max(1, drained.length >> refusals)), leaving: null };
  }
  if (interruption !== null) return { ...none, interruption, leaving: null };
  if (notes.length > 0) return { ...none, notes, leaving: null };
  if (unanswered !== null) return { ...none, unanswered, leaving: null };
  if (gpus !== null) return { ...none, gpus, leaving: null };
  return { ...none, scheduler, leaving };
}

const hasPending = (pending: Pending): boolean => partsOf(pending).length > 0;

const partsOf = (pending: Pending): string[] =>
  Object.entries(pending).flatMap(([part, each]) =>
    each === null || (Array.isArray(each) && each.length === 0) ? [] : part,
  );

type Wire = Pick<
  ReportRequest,
  'process' | 'scheduler' | 'unansweredForMs' | 'gpus' | 'drained' | 'notes' | 'interruption'
>;

function wireOf(
  { process, scheduler, unanswered, gpus, drained, notes, interruption }: Pending,
  refusals: number,
): Wire {
  return {
    ...(process === null ? {} : { process }),
    ...(scheduler === null ? {} : { scheduler: scheduler.make(refusals) }),
    ...(unanswered === null ? {} : { unansweredForMs: unanswered.make() }),
    ...(gpus === null ? {} : { gpus: gpus.make() }),
    ...(drained.length === 0 ? {} : { drained: [...drained] }),
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
    ...(interruption === null ? {} : { interruption }),
  };
}

function stillPending(pending: Pending, said: Pending): Pending {
  return {
    process: pending.process === said.process ? null : pending.process,
    scheduler: pending.scheduler === said.scheduler ? null : pending.scheduler,
    unanswered: pending.unanswered === said.unanswered ? null : pending.unanswered,
    gpus: pending.gpus === said.gpus ? null : pending.gpus,
    drained: pending.drained.filter((each) => !said.drained.includes(each)),
    notes: pending.notes.filter((each) => !said.notes.includes(each)),
    interruption: pending.interruption === said.interruption ? null : pending.interruption,
    leaving: pending.leaving,
  };
}
