// Jobs that run on a schedule.
import type { CreateSchedule, Schedule, ScheduleDetails, ScheduleList } from '../schema/schedules.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface SchedulesApi {
  /** Each run submits `job` as you. Throws ValidationError, ConflictError (`NAME_TAKEN`), RateLimitError. */
  create(input: CreateSchedule, options?: CallOptions): Promise<Schedule>;
  list(options?: CallOptions): Promise<Schedule[]>;
  /** Includes its next and last runs. Throws NotFoundError. */
  get(name: string, options?: CallOptions): Promise<ScheduleDetails>;
  pause(name: string, options?: CallOptions): Promise<Schedule>;
  /** Resumes it after a pause, or after it has stopped by itself. */
  resume(name: string, options?: CallOptions): Promise<Schedule>;
  /** Runs it now, paused or not. */
  trigger(name: string, options?: CallOptions): Promise<Schedule>;
  /** Jobs that it has started continue. */
  delete(name: string, options?: CallOptions): Promise<Schedule>;
}

export function createSchedulesApi(request: SendRequest): SchedulesApi {
  const path = (name: string, rest = ''): string => `/v1/schedules/${encodeURIComponent(name)}${rest}`;
  const act =
    (verb: string) =>
    (name: string, { signal }: CallOptions = {}) =>
      requestJson<Schedule>(request, { method: 'POST', path: path(name, `/${verb}`), signal });
  return {
    create: (body, { signal } = {}) => requestJson(request, { method: 'POST', path: '/v1/schedules', body, signal }),
    list: async ({ signal } = {}) =>
      (await requestJson<ScheduleList>(request, { method: 'GET', path: '/v1/schedules', signal })).items,
    get: (name, { signal } = {}) => requestJson(request, { method: 'GET', path: path(name), signal }),
    pause: act('pause'),
    resume: act('resume'),
    trigger: act('trigger'),
    delete: (name, { signal } = {}) => requestJson(request, { method: 'DELETE', path: path(name), signal }),
  };
}
