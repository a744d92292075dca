// Schedules of jobs: create, list, show, pause, resume, trigger, delete. A schedule runs as its creator, who alone may change it; admins may pause
// and delete it.
import { RopewalkError } from '../../domain/errors.ts';
import { describeCommand } from '../../domain/job/command.ts';
import { checkCron, checkTimezone, maxDueRuns } from '../../domain/schedule/rules.ts';
import { scheduleKey } from '../../platform/archive-keys.ts';
import { randomId } from '../../platform/ids.ts';
import type { CreateScheduleParsed, Schedule, ScheduleDetails, ScheduleList } from '../../schema/schedules.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { withNamedSoftware } from '../environments/resolve.ts';
import { readJobRequest } from '../jobs/request.ts';
import { readDefaults } from '../people/defaults.ts';
import { time } from '../to-wire.ts';
import { syncSchedule } from './sync.ts';

/** @throws RopewalkError VALIDATION naming the field, NAME_TAKEN, LIMIT_EXCEEDED */
export async function createSchedule(context: Context, body: CreateScheduleParsed): Promise<Schedule> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { workspace, user, userId } = actor;
  const cron = checkCron(body.cron);
  const timezone = checkTimezone(body.timezone);
  // A request that its runs would be refused for is refused now.
  await readJobRequest(deps, await withNamedSoftware(context, body.job), await readDefaults(context));
  const id = randomId('sch');
  const bytes = Buffer.from(JSON.stringify(body.job));
  await deps.vault.seal(scheduleKey(workspace, id), bytes, { ttlMs: keptMs });
  const answer = await deps.store.schedules.create({
    ...{ id, workspace, name: body.name, cron, timezone, overlap: body.overlap, isPaused: false, stopped: null },
    ...{ user, userId, command: body.job.privateToCreator ? '' : describeCommand(body.job.command) },
    ...{ lastJob: null, version: 1, isDeleted: false, createdAtMs: deps.now() },
  });
  if ('error' in answer) {
    await deps.vault.delete(scheduleKey(workspace, id));
    throw new RopewalkError(answer.error);
  }
  return carriedOut(context, answer.ok);
}

export async function listSchedules({ deps, actor }: Context): Promise<ScheduleList> {
  requireScope(actor, 'read');
  return { items: (await deps.store.schedules.list(actor.workspace)).map(wireOf) };
}

/** @throws RopewalkError NOT_FOUND */
export async function getSchedule({ deps, actor }: Context, name: string): Promise<ScheduleDetails> {
  requireScope(actor, 'read');
  const found = orNotFound(await deps.store.schedules.find(actor.workspace, name), name);
  const runs = await deps.store.schedules.listRuns(found.id, runsShown);
  const isActive = !found.isPaused && found.stopped === null;
  const next = isActive ? await deps.schedules.nextRuns(found.id) : [];
  return {
    ...wireOf(found),
    nextRuns: next.slice(0, nextShown).map((at) => at.toISOString()),
    runs: runs.map(({ atMs, state, job, text }) => ({ at: time(atMs), state, job, text })),
  };
}

/** Only its creator may resume a stopped one. @throws RopewalkError NOT_FOUND, FORBIDDEN */
export async function pauseSchedule(context: Context, name: string, isPaused: boolean): Promise<Schedule> {
  const found = await mayChange(context, name, isPaused);
  const change = isPaused ? { isPaused } : { isPaused, stopped: null };
  return carriedOut(context, orNotFound(await context.deps.store.schedules.change(found.id, change), name));
}

/** Throws LIMIT_EXCEEDED while many runs are due. Works on a paused schedule too, and without Temporal: the run is stored like one that Temporal's Schedule began. */
export async function triggerSchedule(context: Context, name: string): Promise<Schedule> {
  const { deps } = context;
  const found = await mayChange(context, name, false);
  if ((await deps.store.schedules.countDue(found.id)) >= maxDueRuns) throw manyDue(name);
  await deps.store.schedules.addRun({ schedule: found.id, run: randomId('trigger'), atMs: deps.now() });
  return wireOf(found);
}

/** Its started jobs continue. @throws RopewalkError NOT_FOUND, FORBIDDEN */
export async function deleteSchedule(context: Context, name: string): Promise<Schedule> {
  const { deps, actor } = context;
  const found = await mayChange(context, name, true);
  const deleted = orNotFound(await deps.store.schedules.change(found.id, { isDeleted: true }), name);
  await deps.vault.delete(scheduleKey(actor.workspace, found.id));
  return carriedOut(context, deleted);
}

async function mayChange({ deps, actor }: Context, name: string, alsoAdmins: boolean): Promise<JobSchedule> {
  requireScope(actor, 'write');
  const found = orNotFound(await deps.store.schedules.find(actor.workspace, name), name);
  if (found.userId === actor.userId || (alsoAdmins && actor.scopes.includes('admin'))) return found;
  throw new RopewalkError({
    code: 'FORBIDDEN',
    message: `The schedule ${name} is of ${found.user}, as whom its jobs run.`,
    hint: `Ask ${found.user}${alsoAdmins ? ' or an admin' : ''}.`,
  });
}

async function carriedOut({ deps }: Context, row: JobSchedule): Promise<Schedule> {
  const isDone = await syncSchedule(deps, row);
  return { ...wireOf(row), ...(isDone ? {} : { acceptedForLater: true as const }) };
}

function wireOf(row: JobSchedule): Schedule {
  const { name, cron, timezone, overlap, isPaused, stopped, command, user, lastJob, createdAtMs } = row;
  const state = stopped !== null ? 'stopped' : isPaused ? 'paused' : 'active';
  return {
    name,
    cron,
    timezone,
    overlap,
    state,
    reason: stopped,
    command,
    user,
    lastJob,
    createdAt: time(createdAtMs),
  };
}

function orNotFound(found: JobSchedule | null, name: string): JobSchedule {
  if (found !== null) return found;
  throw new RopewalkError({ code: 'NOT_FOUND', message: `There is no schedule named ${name} in this workspace.` });
}

const manyDue = (name: string): RopewalkError =>
  new RopewalkError({
    code: 'LIMIT_EXCEEDED',
    message: `${maxDueRuns} runs of the schedule ${name} have not begun yet, which is the most.`,
    hint: 'Trigger it again when they have: GET /v1/schedules/{schedule} lists them.',
  });

/** Until it is deleted. */
const keptMs = 100 * 365 * 86_400_000;
const nextShown = 5;
const runsShown = 20;
