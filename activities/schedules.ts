// The rows that a scheduled run writes.
import type { ScheduleActivities } from '../contracts/activities.ts';
import type { Store } from '../store/store.ts';

export function createScheduleActivities({ store }: { store: Pick<Store, 'schedules'> }): ScheduleActivities {
  return {
    // A deleted schedule has no row, so nothing is written.
    async noteScheduledRun({ schedule, run, atMs }) {
      await store.schedules.addRun({ schedule, run, atMs });
    },
  };
}
