// Time in a simulated job: the job wakes at its announced time and checks its leases. It may end a lease for silence only after bounded periods in
// which another agent was heard.
import { maxLeaseExtensions, shrinkAfterMs } from '../../domain/job/limits.ts';
import { cancelInBooks, isAllOver, loseInBooks } from './job-books.ts';
import type { JobSimulation } from './job-happenings.ts';
import { must, same } from './simulations.ts';

/** Lets time pass. In an outage no agent is heard, and only leases that were already due may end. */
export function passTime(sim: JobSimulation, ms: number, isOutage: boolean): void {
  const fromMs = sim.nowMs;
  const untilMs = fromMs + ms;
  const patient = isOutage ? sim.state.leases.filter((lease) => lease.deadlineMs > fromMs).length : 0;
  if (patient > 0) sim.met('outage');
  for (;;) {
    const wakeMs = sim.rules.nextWakeMs(sim.state);
    const shrinkMs = sim.rules.nextShrinkMs(sim.state);
    if (shrinkMs !== null && shrinkMs <= untilMs && (wakeMs === null || shrinkMs < wakeMs)) {
      sim.nowMs = Math.max(sim.nowMs, shrinkMs);
      shrink(sim);
      continue;
    }
    must((wakeMs === null) === (sim.state.leases.length === 0 && !hasTimeout(sim)), () => 'when does it wake?');
    if (wakeMs === null || wakeMs > untilMs) break;
    sim.nowMs = Math.max(sim.nowMs, wakeMs);
    wake(sim, isOutage ? fromMs : null);
  }
  sim.nowMs = untilMs;
  wake(sim, isOutage ? fromMs : null);
}

function hasTimeout(sim: JobSimulation): boolean {
  return !isAllOver(sim.books) && sim.state.settings.jobTimeoutMs !== null && sim.state.startedAtMs !== null;
}

/** Only idle instances other than the head are released, only when no task has waited for a while, and each only once. */
function shrink(sim: JobSimulation): void {
  const { rules, state, agents, books, nowMs } = sim;
  const before = JSON.stringify(state.leases);
  const ids = rules.releaseSpareInstances(state, nowMs);
  must(before === JSON.stringify(state.leases), () => 'a lease went with an instance');
  for (const id of ids) {
    sim.met('released');
    const agent = agents.find((each) => each.id === id);
    must(agent?.head === false, () => `${id} is the head, or unknown`);
    must(!books.lostInstances.has(id) && !books.isReleased.has(id), () => `${id} is released for nothing`);
    must(!state.leases.some((lease) => lease.instance === id), () => `${id} goes with a lease`);
    books.isReleased.add(id);
  }
  const waiting = state.requeued.length + state.settings.taskCount - state.nextFresh;
  must(ids.length === 0 || waiting === 0, () => `${waiting} tasks wait, and instances go`);
  must(ids.length === 0 || nowMs >= sim.waitedAtMs + shrinkAfterMs, () => 'a task waited only just now');
  must(rules.releaseSpareInstances(state, nowMs).length === 0, () => 'more go at the same moment');
}

/** The steps of the workflow's loop at each wake-up. */
function wake(sim: JobSimulation, outageFromMs: number | null): void {
  const { rules, state, books, nowMs } = sim;
  const timeoutMs = rules.timeoutAtMs(state);
  if (timeoutMs !== null && nowMs >= timeoutMs && !isAllOver(books)) {
    sim.met('timeout');
    rules.cancelJob(state, { code: 'JOB_TIMEOUT', text: 'too long', atMs: nowMs });
    cancelInBooks(books);
  }
  shrink(sim);
  const before = state.leases.map((lease) => ({ ...lease }));
  const suspects = new Set(rules.expireLeases(state, nowMs).map((suspect) => suspect.instance));
  for (const was of before) {
    const is = state.leases.find((lease) => lease.lease === was.lease);
    if (is === undefined) {
      endedForSilence(sim, was, outageFromMs);
      loseInBooks(books, was.lease);
    } else if (was.deadlineMs > nowMs) {
      must(same(is, was), () => `lease ${was.lease} was not due`);
    } else {
      must(is.deadlineMs > nowMs && suspects.has(is.instance), () => `lease ${was.lease} ran out unnoticed`);
    }
  }
}

/** Silence alone proves no death: other agents must have been heard meanwhile, period after period, which proves that the link worked. */
function endedForSilence(
  sim: JobSimulation,
  was: JobSimulation['state']['leases'][number],
  outageFromMs: number | null,
): void {
  const { leaseMs } = sim.state.settings;
  sim.met('silence');
  const periods = maxLeaseExtensions + 1;
  must(sim.nowMs - was.heardAtMs >= periods * leaseMs, () => `lease ${was.lease} ended after too short a silence`);
  const sinceMs = was.deadlineMs - leaseMs;
  const isProven = [...sim.heardAtMs].some(
    ([id, atMs]) => id !== was.instance && !sim.books.lostInstances.has(id) && atMs > sinceMs,
  );
  must(isProven, () => `lease ${was.lease} ended for silence although no agent was heard`);
  must(outageFromMs === null || sinceMs < outageFromMs, () => `lease ${was.lease} ended by an outage of ours`);
}
