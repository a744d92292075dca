// Time in a simulated job: it wakes when it said it would, looks at its leases, and may end one for silence only after
// bounded periods in which somebody else was heard.
import { maxLeaseExtensions, shrinkAfterMs } from '../../domain/job/limits.ts';
import { cancelInBooks, isAllOver, loseInBooks } from './job-books.ts';
import type { JobWorld } from './job-happenings.ts';
import { must, same } from './worlds.ts';

/** Lets time pass. In an outage nobody is heard, and then no lease may end that was not already due before it. */
export function passTime(world: JobWorld, ms: number, isOutage: boolean): void {
  const fromMs = world.nowMs;
  const untilMs = fromMs + ms;
  const patient = isOutage ? world.state.leases.filter((lease) => lease.deadlineMs > fromMs).length : 0;
  if (patient > 0) world.met('outage');
  for (;;) {
    const wakeMs = world.rules.nextWakeMs(world.state);
    const shrinkMs = world.rules.nextShrinkMs(world.state);
    if (shrinkMs !== null && shrinkMs <= untilMs && (wakeMs === null || shrinkMs < wakeMs)) {
      world.nowMs = Math.max(world.nowMs, shrinkMs);
      shrink(world);
      continue;
    }
    must((wakeMs === null) === (world.state.leases.length === 0 && !hasTimeout(world)), () => 'when does it wake?');
    if (wakeMs === null || wakeMs > untilMs) break;
    world.nowMs = Math.max(world.nowMs, wakeMs);
    wake(world, isOutage ? fromMs : null);
  }
  world.nowMs = untilMs;
  wake(world, isOutage ? fromMs : null);
}

function hasTimeout(world: JobWorld): boolean {
  return !isAllOver(world.books) && world.state.settings.jobTimeoutMs !== null && world.state.startedAtMs !== null;
}

/** Only who is idle and no head goes, only when nothing has waited for a while, and nobody goes twice. */
function shrink(world: JobWorld): void {
  const { rules, state, agents, books, nowMs } = world;
  const before = JSON.stringify(state.leases);
  const ids = rules.releaseSpareInstances(state, nowMs);
  must(before === JSON.stringify(state.leases), () => 'a lease went with an instance');
  for (const id of ids) {
    world.met('given back');
    const agent = agents.find((each) => each.id === id);
    must(agent?.head === false, () => `${id} is the head, or nobody`);
    must(!books.lostInstances.has(id) && !books.isReleased.has(id), () => `${id} is given back for nothing`);
    must(!state.leases.some((lease) => lease.instance === id), () => `${id} goes with a lease`);
    books.isReleased.add(id);
  }
  const waiting = state.requeued.length + state.settings.taskCount - state.nextFresh;
  must(ids.length === 0 || waiting === 0, () => `${waiting} tasks wait, and instances go`);
  must(ids.length === 0 || nowMs >= world.waitedAtMs + shrinkAfterMs, () => 'a task waited only just now');
  must(rules.releaseSpareInstances(state, nowMs).length === 0, () => 'more go at the same moment');
}

/** What the workflow's loop does whenever it wakes. */
function wake(world: JobWorld, outageFromMs: number | null): void {
  const { rules, state, books, nowMs } = world;
  const timeoutMs = rules.timeoutAtMs(state);
  if (timeoutMs !== null && nowMs >= timeoutMs && !isAllOver(books)) {
    world.met('timeout');
    rules.cancelJob(state, { code: 'JOB_TIMEOUT', text: 'too long', atMs: nowMs });
    cancelInBooks(books);
  }
  shrink(world);
  const before = state.leases.map((lease) => ({ ...lease }));
  const suspects = new Set(rules.expireLeases(state, nowMs).map((suspect) => suspect.instance));
  for (const was of before) {
    const is = state.leases.find((lease) => lease.lease === was.lease);
    if (is === undefined) {
      endedForSilence(world, was, outageFromMs);
      loseInBooks(books, was.lease);
    } else if (was.deadlineMs > nowMs) {
      must(same(is, was), () => `lease ${was.lease} was not due`);
    } else {
      must(is.deadlineMs > nowMs && suspects.has(is.instance), () => `lease ${was.lease} ran out unnoticed`);
    }
  }
}

/** Silence is no death: only others that were heard meanwhile, period after period, prove that our link worked. */
function endedForSilence(world: JobWorld, was: JobWorld['state']['leases'][number], outageFromMs: number | null): void {
  const { leaseMs } = world.state.settings;
  world.met('silence');
  const periods = maxLeaseExtensions + 1;
  must(world.nowMs - was.heardAtMs >= periods * leaseMs, () => `lease ${was.lease} ended after too short a silence`);
  const sinceMs = was.deadlineMs - leaseMs;
  const isProven = [...world.heardAtMs].some(
    ([id, atMs]) => id !== was.instance && !world.books.lostInstances.has(id) && atMs > sinceMs,
  );
  must(isProven, () => `lease ${was.lease} ended for silence although nobody was heard`);
  must(outageFromMs === null || sinceMs < outageFromMs, () => `lease ${was.lease} ended by an outage of ours`);
}
