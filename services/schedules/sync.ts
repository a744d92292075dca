// Makes Temporal's Schedules what the rows say. A change is written first, and carried out at once if Temporal is available;
// otherwise any replica of the API does it later.
import type { JobSchedule } from '../../store/schedule-port.ts';
import type { Deps } from '../context.ts';
import { isUnavailable } from '../unavailable.ts';

type Syncing = Pick<Deps, 'store' | 'schedules' | 'logger'>;

/** False while Temporal is unavailable. */
export async function syncSchedule({ store, schedules, logger }: Syncing, row: JobSchedule): Promise<boolean> {
  try {
    await (row.isDeleted ? schedules.delete(row.id) : schedules.put(row));
    // Of two changes that are carried out in another order, the newer one is not synced, and is carried out again.
    await store.schedules.synced(row.id, row.version);
    return true;
  } catch (error) {
    if (!isUnavailable(error)) logger.error({ err: error, schedule: row.id }, 'a schedule could not be changed');
    else logger.info({ schedule: row.id }, 'a schedule is changed when Temporal is available again');
    return false;
  }
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
