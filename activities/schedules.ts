// What a run of a user's schedule writes.
import type { ScheduleActivities } from '../contracts/activities.ts';
import type { Store } from '../store/store.ts';

export function createScheduleActivities({ store }: { store: Pick<Store, 'schedules'> }): ScheduleActivities {
  return {
    // A schedule that was deleted meanwhile has no row: then nothing is noted.
    async noteScheduledRun({ schedule, run, atMs }) {
      await store.schedules.addRun({ schedule, run, atMs });
    },
  };
}
