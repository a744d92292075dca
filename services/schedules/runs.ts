// Submits the jobs of due runs, in every replica of the API: as the schedule's user, with that user's current rights and quota. A run that is
// submitted twice creates one job, because it has its own idempotency key.
import { RopewalkError } from '../../domain/errors.ts';
import { scopesOfRole } from '../../domain/people/authority.ts';
import { decideRun, runsAtOnce, runsOfWorkspaceAtOnce } from '../../domain/schedule/rules.ts';
import { scheduleKey } from '../../platform/archive-keys.ts';
import { createJob as createJobSchema } from '../../schema/jobs.ts';
import type { JobSchedule, ScheduleRun } from '../../store/schedule-port.ts';
import type { Actor, Deps } from '../context.ts';
import { cancelJob } from '../jobs/cancel.ts';
import { createJob } from '../jobs/create.ts';
import { isUnavailable } from '../unavailable.ts';
import { notify } from '../webhooks/notifications.ts';
import { syncSchedule, syncSchedules } from './sync.ts';

/** Never rejects. */
export async function runSchedules(deps: Deps): Promise<void> {
  await syncSchedules(deps);
  try {
    const nowMs = deps.now();
    const runs = await deps.store.schedules.claimRuns({
      ...{ limit: runsAtOnce, ofWorkspace: runsOfWorkspaceAtOnce },
      ...{ nowMs, claimUntilMs: nowMs + claimMs },
    });
    for (const run of runs) await runOne(deps, run);
  } catch (error) {
    deps.logger.warn({ err: error }, 'due runs of schedules could not be read now');
  }
}

async function runOne(deps: Deps, run: ScheduleRun): Promise<void> {
  const { store, logger } = deps;
  const schedule = await store.schedules.findById(run.schedule);
  if (schedule === null)
    return store.schedules.settleRun(run.run, { state: 'skipped', job: null, text: 'It was deleted.' });
  try {
    await store.schedules.settleRun(run.run, await submit(deps, schedule, run));
  } catch (error) {
    // The claim expires, and the run is retried.
    if (isUnavailable(error) || !(error instanceof RopewalkError)) {
      logger.warn({ err: error, schedule: schedule.id }, 'a run of a schedule could not be submitted now');
      return;
    }
    await store.schedules.settleRun(run.run, { state: 'refused', job: null, text: error.problem.message });
  }
}

async function submit(
  deps: Deps,
  schedule: JobSchedule,
  { run }: ScheduleRun,
): Promise<Pick<ScheduleRun, 'state' | 'job' | 'text'>> {
  const actor = await actorOf(deps, schedule);
  if (actor === null)
    return stop(deps, schedule, `The user ${schedule.user} was removed, or may start no jobs any more.`);
  const sealed = await deps.vault.open(scheduleKey(schedule.workspace, schedule.id));
  if (sealed === null) return stop(deps, schedule, 'What it runs is no longer stored.');
  const decision = decideRun(schedule.overlap, await openJobOf(deps, schedule));
  if (decision.kind === 'skip') return { state: 'skipped', job: null, text: decision.text };
  const context = { deps, actor, requestId: run };
  if (decision.cancel !== null) await cancelJob(context, { number: decision.cancel });
  const body = createJobSchema.parse(JSON.parse(Buffer.from(sealed).toString('utf8')));
  const after = [...(body.after ?? []), ...(decision.after === null ? [] : [decision.after])];
  const { number } = await createJob(context, {
    body: { ...body, ...(after.length === 0 ? {} : { after }) },
    idempotencyKey: run,
    schedule: schedule.name,
  });
  return { state: 'started', job: number, text: null };
}

/** The schedule's creator as a current user; null for one who was removed or may not start jobs. */
async function actorOf({ store, monotonicMs }: Deps, schedule: JobSchedule): Promise<Actor | null> {
  const { workspace, userId, id } = schedule;
  const user = (await store.people.listUsers(workspace)).find((each) => each.id === userId);
  const scopes = user === undefined ? [] : scopesOfRole(user.role, workspace).filter((scope) => scope !== 'operator');
  if (user === undefined || !scopes.includes('write')) return null;
  // There is no token to revoke meanwhile: the user was just looked up.
  const checkedAtMs = monotonicMs() + submitMs;
  return { workspace, user: user.name, userId, tokenId: id, role: user.role, scopes, expiresAtMs: null, checkedAtMs };
}

async function openJobOf({ store }: Deps, { workspace, lastJob }: JobSchedule): Promise<number | null> {
  if (lastJob === null) return null;
  const record = await store.jobs.find(workspace, lastJob);
  return record === null || record.state === 'ended' ? null : lastJob;
}

async function stop(deps: Deps, { id, workspace, name }: JobSchedule, text: string) {
  const row = await deps.store.schedules.change(id, { stopped: text });
  if (row !== null) await syncSchedule(deps, row);
  const data = { schedule: name, workspace, reason: { code: 'STOPPED', text } };
  const message = `The schedule ${name} has stopped: ${text}`;
  await notify(deps, { workspace, type: 'schedule.stopped', object: `schedule/${id}`, text: message, data });
  return { state: 'refused' as const, job: null, text };
}

/** Longer than a submission takes. */
const claimMs = 60_000;
const submitMs = 60_000;
