// Schedules of jobs on a real Temporal: a Schedule follows its row, and its runs are recorded.
import { ScheduleNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { scheduledRunId, userScheduleId } from '../../contracts/scheduled-run.ts';
import { createTemporalSchedules } from '../../services/schedules/temporal-schedules.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';
import { eventually } from '../support/eventually.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const row: JobSchedule = {
  ...{ id: 'sch_1', workspace: 'default', name: 'yearly', cron: '0 3 1 1 *', timezone: 'Europe/Berlin' },
  ...{ overlap: 'skip', isPaused: false, stopped: null, user: 'ada', userId: 'usr_1', command: 'true' },
  ...{ lastJob: null, version: 1, isDeleted: false, createdAtMs: 0 },
};

const noted: { schedule: string; run: string }[] = [];
let temporal: TestTemporal;
beforeAll(async () => {
  const control = {
    noteScheduledRun: async (input: (typeof noted)[number]) => {
      noted.push(input);
    },
  };
  temporal = await sharedTemporal({ control, instances: control });
});
afterAll(() => temporal?.stop());

it('a Schedule follows its row, also when a run begins meanwhile, and its runs are noted', async () => {
  const port = createTemporalSchedules(temporal.client, async () => undefined);
  const handle = temporal.client.schedule.getHandle(userScheduleId(row.id));
  const isPaused = async () => (await handle.describe()).state.paused;
  await port.put(row);
  expect((await port.nextRuns(row.id))[0]?.toISOString()).toMatch(/-01-01T02:00:00/);
  await handle.trigger();
  await eventually(() => noted.length > 0);
  expect(noted[0]).toMatchObject({ schedule: row.id });
  expect(noted[0]?.run.startsWith(`${scheduledRunId(row.id)}-2`)).toBe(true);
  for (const change of [{ isPaused: true }, { isPaused: true }, { isPaused: false }, { stopped: 'no user' }, {}]) {
    const wanted = { ...row, ...change };
    await Promise.all([handle.trigger(), port.put(wanted)]);
    expect(await isPaused()).toBe(wanted.isPaused || wanted.stopped !== null);
  }
  await port.delete(row.id);
  await port.delete(row.id);
  await expect(handle.describe()).rejects.toThrow(ScheduleNotFoundError);
  expect(await port.nextRuns(row.id)).toEqual([]);
});
