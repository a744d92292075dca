// Schedules of jobs and their runs.
import { maxRunsKept, maxSchedules } from '../domain/schedule/rules.ts';
import type { Database } from './database.ts';
import { lockWorkspace } from './people-rows.ts';
import type { JobSchedule, ScheduleRun, ScheduleStore } from './schedule-port.ts';
import type { ScheduleRunTable, ScheduleTable } from './schedule-tables.ts';
import type { Db } from './tables.ts';
import { storable } from './text.ts';
import { noWorkspace } from './workspaces.ts';

export function createScheduleStore(database: Database): ScheduleStore {
  const { engine } = database;
  const all = (query: (db: Db) => Promise<ScheduleTable[]>) =>
    database.read(query).then((rows) => rows.map(scheduleOf));
  const visible = (db: Db) => db.selectFrom('schedules').selectAll().where('is_deleted', '=', 0);
  return {
    create: (schedule) =>
      database.write(async (db) => {
        const { workspace, name } = schedule;
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const known = await visible(db).where('workspace', '=', workspace).execute();
        if (known.some((row) => row.name === name)) return { error: nameTaken(name) };
        if (known.length >= maxSchedules) return { error: tooMany };
        await db.insertInto('schedules').values(rowOf(schedule)).execute();
        return { ok: schedule };
      }),
    find: async (workspace, name) =>
      (await all((db) => visible(db).where('workspace', '=', workspace).where('name', '=', name).execute()))[0] ?? null,
    findById: async (id) => (await all((db) => visible(db).where('id', '=', id).execute()))[0] ?? null,
    list: (workspace) => all((db) => visible(db).where('workspace', '=', workspace).orderBy('name').execute()),
    change: (id, { isPaused, stopped, isDeleted }) =>
      database.write(async (db) => {
        const row = await db
          .updateTable('schedules')
          .set((build) => ({
            version: build('version', '+', 1),
            ...(isPaused === undefined ? {} : { is_paused: isPaused ? 1 : 0 }),
            ...(stopped === undefined ? {} : { stopped }),
            ...(isDeleted === undefined ? {} : { is_deleted: 1 }),
          }))
          .where('id', '=', id)
          .where('is_deleted', '=', 0)
          .returningAll()
          .executeTakeFirst();
        return row === undefined ? null : scheduleOf(row);
      }),
    listUnsynced: (limit) =>
      all((db) =>
        db
          .selectFrom('schedules')
          .selectAll()
          .whereRef('synced_version', '<', 'version')
          .orderBy('created_at_ms')
          .limit(limit)
          .execute(),
      ),
    synced: (id, version) =>
      database.write(async (db) => {
        await db
          .updateTable('schedules')
          .set({ synced_version: version })
          .where('id', '=', id)
          .where('synced_version', '<', version)
          .execute();
        // Keeps a schedule that was deleted after this version, because Temporal has not deleted it yet.
        const gone = await db
          .deleteFrom('schedules')
          .where('id', '=', id)
          .where('is_deleted', '=', 1)
          .whereRef('synced_version', '>=', 'version')
          .executeTakeFirst();
        if (gone.numDeletedRows > 0n) await db.deleteFrom('schedule_runs').where('schedule', '=', id).execute();
      }),
    addRun: ({ schedule, run, atMs }) =>
      database.write(async (db) => {
        if ((await visible(db).where('id', '=', schedule).executeTakeFirst()) === undefined) return false;
        const inserted = await db
          .insertInto('schedule_runs')
          .values({ ...{ schedule, run, at_ms: atMs, state: 'due', job: null, text: null }, claimed_until_ms: 0 })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        const kept = db
          .selectFrom('schedule_runs')
          .select('run')
          .where('schedule', '=', schedule)
          .orderBy('at_ms', 'desc')
          .limit(maxRunsKept);
        const old = db.deleteFrom('schedule_runs').where('schedule', '=', schedule).where('state', '<>', 'due');
        await old.where('run', 'not in', kept).execute();
        return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
    countDue: (schedule) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('schedule_runs')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('schedule', '=', schedule)
          .where('state', '=', 'due')
          .executeTakeFirstOrThrow();
        return Number(row.count);
      }),
    claimRuns: async ({ limit, ofWorkspace, nowMs, claimUntilMs }) => {
      if ((await database.read((db) => dueRuns(db, { nowMs, limit: 1, full: [] }).execute())).length === 0) return [];
      return database.write(async (db) => {
        const claimed: ScheduleRun[] = [];
        const counts = new Map<string | null, number>();
        // Of each round at least the first is claimed, because it is of no full workspace.
        for (;;) {
          const full = [...counts].flatMap(([slug, count]) => (slug !== null && count >= ofWorkspace ? [slug] : []));
          const rows = await dueRuns(db, { nowMs, limit: limit - claimed.length, full })
            .$if(engine === 'postgres', (query) => query.forUpdate('schedule_runs').skipLocked())
            .execute();
          const taken = rows.filter(({ workspace }) => {
            const count = counts.get(workspace) ?? 0;
            counts.set(workspace, count + 1);
            return workspace === null || count < ofWorkspace;
          });
          if (taken.length === 0) return claimed;
          const runs = taken.map(({ run }) => run);
          const claim = db.updateTable('schedule_runs').set({ claimed_until_ms: claimUntilMs });
          await claim.where('run', 'in', runs).execute();
          claimed.push(...taken.map(runOf));
          if (claimed.length === limit) return claimed;
        }
      });
    },
    settleRun: (run, { state, job, text }) =>
      database.write(async (db) => {
        const row = await db
          .updateTable('schedule_runs')
          .set({ state, job, text: text === null ? null : storable(text) })
          .where('run', '=', run)
          .returning('schedule')
          .executeTakeFirst();
        if (row === undefined || job === null) return;
        await db.updateTable('schedules').set({ last_job: job }).where('id', '=', row.schedule).execute();
      }),
    listRuns: async (schedule, limit) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('schedule_runs')
          .selectAll()
          .where('schedule', '=', schedule)
          .orderBy('at_ms', 'desc')
          .orderBy('run', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map(runOf);
    },
  };
}

/** Not of the workspaces that are `full`. A run whose schedule is gone has none. */
const dueRuns = (db: Db, { nowMs, limit, full }: { nowMs: number; limit: number; full: readonly string[] }) =>
  db
    .selectFrom('schedule_runs')
    .leftJoin('schedules', 'schedules.id', 'schedule_runs.schedule')
    .selectAll('schedule_runs')
    .select('schedules.workspace')
    .where('state', '=', 'due')
    .where('claimed_until_ms', '<=', nowMs)
    .$if(full.length > 0, (query) =>
      query.where((build) =>
        build.or([build('schedules.workspace', 'is', null), build('schedules.workspace', 'not in', full)]),
      ),
    )
    .orderBy('at_ms')
    .orderBy('run')
    .limit(limit);

const scheduleOf = (row: ScheduleTable): JobSchedule => ({
  ...{ id: row.id, workspace: row.workspace, name: row.name, cron: row.cron, timezone: row.timezone },
  ...{ overlap: row.overlap, isPaused: row.is_paused === 1, stopped: row.stopped, user: row.user_name },
  ...{ userId: row.user_id, command: row.command, lastJob: row.last_job, version: row.version },
  ...{ isDeleted: row.is_deleted === 1, createdAtMs: row.created_at_ms },
});

const rowOf = (schedule: JobSchedule): ScheduleTable => ({
  ...{ id: schedule.id, workspace: schedule.workspace, name: schedule.name, cron: schedule.cron },
  ...{ timezone: schedule.timezone, overlap: schedule.overlap, is_paused: schedule.isPaused ? 1 : 0 },
  ...{ stopped: schedule.stopped, user_name: schedule.user, user_id: schedule.userId },
  ...{ command: storable(schedule.command), last_job: schedule.lastJob, version: schedule.version, synced_version: 0 },
  ...{ is_deleted: schedule.isDeleted ? 1 : 0, created_at_ms: schedule.createdAtMs },
});

const runOf = ({ schedule, run, at_ms: atMs, state, job, text }: ScheduleRunTable): ScheduleRun => ({
  ...{ schedule, run, atMs, state, job, text },
});

const nameTaken = (name: string) => ({
  code: 'NAME_TAKEN' as const,
  field: 'name',
  message: `This workspace has a schedule named ${JSON.stringify(name)}.`,
  hint: 'Choose another name, or delete that one first.',
});

const tooMany = {
  code: 'LIMIT_EXCEEDED' as const,
  message: `This workspace has ${maxSchedules} schedules, which is the most.`,
  hint: 'Delete one first.',
};
