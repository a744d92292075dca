// What schedules ask of Temporal.
import { RopewalkError } from '../../domain/errors.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';

export interface SchedulesPort {
  /** Creates or changes Temporal's Schedule, so that it is as the row says. Throws UNAVAILABLE. */
  put(schedule: JobSchedule): Promise<void>;
  /** Nothing to delete is no error. Throws UNAVAILABLE. */
  delete(id: string): Promise<void>;
  /** Empty while Temporal does not answer. */
  nextRuns(id: string): Promise<Date[]>;
}

const unavailable = () =>
  Promise.reject(new RopewalkError({ code: 'UNAVAILABLE', message: 'Temporal is not configured.' }));

/** Of a process without Temporal. */
export const noSchedules: SchedulesPort = {
  put: unavailable,
  delete: unavailable,
  nextRuns: () => Promise.resolve([]),
};
