// The Temporal calls of schedules.
import { RopewalkError } from '../../domain/errors.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';

export interface SchedulesPort {
  /** Creates or changes Temporal's Schedule to match the row. Throws UNAVAILABLE. */
  put(schedule: JobSchedule): Promise<void>;
  /** A missing Schedule is no error. Throws UNAVAILABLE. */
  delete(id: string): Promise<void>;
  /** Empty while Temporal is unavailable. */
  nextRuns(id: string): Promise<Date[]>;
}

const unavailable = () =>
  Promise.reject(new RopewalkError({ code: 'UNAVAILABLE', message: 'Temporal is not configured.' }));

/** For a process without Temporal. */
export const noSchedules: SchedulesPort = {
  put: unavailable,
  delete: unavailable,
  nextRuns: () => Promise.resolve([]),
};
