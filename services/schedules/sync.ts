// Synchronizes Temporal's Schedules with the rows. A change is written first, and carried out at once if Temporal is available; otherwise any replica
// of the API does it later.
import type { JobSchedule } from '../../store/schedule-port.ts';
import type { Deps } from '../context.ts';
import { isUnavailable } from '../unavailable.ts';

type Syncing = Pick<Deps, 'store' | 'schedules' | 'logger'>;

/** Returns false while Temporal is unavailable. */
export async function syncSchedule({ store, schedules, logger }: Syncing, row: JobSchedule): Promise<boolean> {
  try {
    let wanted: JobSchedule | null = row;
    while (wanted !== null) {
      const current: JobSchedule = wanted;
      await (current.isDeleted ? schedules.delete(current.id) : schedules.put(current));
      await store.schedules.synced(current.id, current.version);
      wanted = newerThan(current, await store.schedules.findById(current.id));
    }
    return true;
  } catch (error) {
    if (!isUnavailable(error)) logger.error({ err: error, schedule: row.id }, 'a schedule could not be changed');
    else logger.info({ schedule: row.id }, 'a schedule is changed when Temporal is available again');
    return false;
  }
}

/** Another replica may have carried out a newer change before this one; the last change that Temporal receives must be the newest. */
function newerThan(done: JobSchedule, stored: JobSchedule | null): JobSchedule | null {
  if (stored === null) return done.isDeleted ? null : { ...done, isDeleted: true };
  return stored.version === done.version ? null : stored;
}

/** Never rejects. */
export async function syncSchedules(deps: Syncing): Promise<void> {
  try {
    for (const row of await deps.store.schedules.listUnsynced(atOnce)) {
      if (!(await syncSchedule(deps, row))) return;
    }
  } catch (error) {
    deps.logger.warn({ err: error }, 'schedules could not be read now');
  }
}

const atOnce = 50;
