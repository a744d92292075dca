// Batch jobs: create, read, cancel, and wait for them.
import type { CostOverTime } from '../schema/costs.ts';
import type { JobEvent } from '../schema/events.ts';
import type { JobAt } from '../schema/history.ts';
import type { CreatedJob, CreateJob, Job, LogLine, RetryJob, Task, TaskStates } from '../schema/jobs.ts';
import type { Plan } from '../schema/plans.ts';
import type { Configuration } from '../schema/configuration.ts';
import type { Why } from '../schema/why.ts';
import { createOwn } from './create-own.ts';
import type { EventOptions } from './events.ts';
import { readEvents } from './events.ts';
import type { ListedFile } from './files.ts';
import { listFiles } from './files.ts';
import type { LogOptions } from './logs.ts';
import { readJobLogs } from './logs.ts';
import type { ResolveSources } from './own-address.ts';
import { timeText } from './times.ts';
import { findIn, listOf } from './lists.ts';
import type { CallOptions, CreateOptions, Filter, ListOptions } from './options.ts';
import type { Paged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';
import type { WaitOptions } from './wait.ts';
import { waitForJob } from './wait.ts';

export type { LogOptions } from './logs.ts';
export type { WaitOptions } from './wait.ts';

export interface JobListOptions extends ListOptions, Filter {
  status?: Job['status'] | readonly Job['status'][];
}

export interface TaskListOptions extends ListOptions {
  state?: Task['state'];
}

export interface JobsApi {
  /**
   * Submits a job. `privateToCreator` hides the output of its tasks from other users. An instance that gets no answer from the
   * API for `watchdogTimeout` ends itself. Throws ValidationError, ConflictError (`NAME_TAKEN`), RateLimitError (`LIMIT_EXCEEDED`).
   */
  create(input: CreateJob, options?: CreateOptions): Promise<CreatedJob>;
  /** The instances that `create` would launch, and their price per hour. Launches nothing. Throws ValidationError. */
  plan(input: CreateJob, options?: CallOptions): Promise<Plan>;
  /** Throws NotFoundError. */
  get(number: number, options?: CallOptions): Promise<Job>;
  /** The open job of that name, or null. `list` finds ended ones. */
  find(name: string, options?: CallOptions): Promise<Job | null>;
  /** Newest first. */
  list(options?: JobListOptions): Paged<Job>;
  /** A job's tasks, by index; with `state` only those in it. Throws NotFoundError. */
  tasks(number: number, options?: TaskListOptions): Paged<Task>;
  /** The states of all tasks in the order of their indices, as runs of equal states, and a histogram of their durations. */
  taskStates(number: number, options?: CallOptions): Promise<TaskStates>;
  /**
   * The job's cost over time, in US dollars, at equal intervals since its first instance. Throws PermissionError for another
   * user's private job.
   */
  costs(number: number, options?: CallOptions): Promise<CostOverTime>;
  /**
   * The state of the job, open or ended, at a past time (a Date, an RFC 3339 time, or an age: `20 minutes`). A task counts by
   * its last attempt. Throws ValidationError for a time before its submission or in the future.
   */
  at(number: number, time: Date | string, options?: CallOptions): Promise<JobAt>;
  /** Output of tasks; the lines of each task are in order. Throws NotFoundError, or ConnectionError midway if not followed. */
  logs(number: number, options?: LogOptions): AsyncGenerator<LogLine, void, undefined>;
  /**
   * Why the job runs or waits, is not larger, has its instance types, or has stopped. Throws PermissionError for another user's
   * private job.
   */
  why(number: number, options?: CallOptions): Promise<Why>;
  /** The requested instance types, limits and software, without secrets. */
  configuration(number: number, options?: CallOptions): Promise<Configuration>;
  /** Output files of its tasks, where they are stored; only of each task's last attempt. Throws NotFoundError. */
  files(number: number, options?: ListOptions): Paged<ListedFile>;
  /** Events of the job, oldest first, including its newest ten errors. `follow` continues until the job has ended. */
  events(number: number, options?: EventOptions): AsyncGenerator<JobEvent, void, undefined>;
  /**
   * Runs the failed tasks of an ended job again, as a new job with the same ids; when the job ended with an error of its own,
   * all unfinished tasks; with `cancelled` also the cancelled ones. `memory` is a size, or a factor such as `2x`. Throws
   * ConflictError when there is none, it has not ended, or another job that runs the same tasks is open (unless `again`).
   */
  retry(number: number, input?: RetryJob, options?: CreateOptions): Promise<CreatedJob>;
  /** Cancels the job; `wait` resolves when it has ended. Returns an ended job unchanged. Throws NotFoundError. */
  cancel(number: number, options?: CallOptions): Promise<Job>;
  /**
   * Cancels some tasks, by their ids in array syntax (`3,7-9`); the job continues. Running ones end within a third of the job's
   * lease period. Throws ValidationError for ids that the job does not have, ConflictError once it has ended.
   */
  cancelTasks(number: number, tasks: string, options?: CallOptions): Promise<Job>;
  /** Resolves when the job is `done`, `error` or `cancelled`; none of these throws. */
  wait(number: number, options?: WaitOptions): Promise<Job>;
}

/** A plan reads only a file's script header, in its first 64 KiB. */
const withHeadsOfFiles = (job: CreateJob): CreateJob =>
  job.files === undefined
    ? job
    : { ...job, files: job.files.map((file) => ({ ...file, content: file.content.slice(0, headCharacters) })) };

/** In base64 characters: two bytes more than 64 KiB, so that the server detects a cut line. */
const headCharacters = 87_384;

export function createJobsApi(request: SendRequest, resolveSources: ResolveSources): JobsApi {
  const path = (number: number, rest = ''): string => `/v1/jobs/${number}${rest}`;
  const get = (number: number, { signal }: CallOptions = {}): Promise<Job> =>
    requestJson<Job>(request, { method: 'GET', path: path(number), signal });
  return {
    get,
    create: async (given, { signal, idempotencyKey } = {}) => {
      const input = await resolveSources(given, signal);
      const send = (body: CreateJob, key: string) =>
        requestJson<CreatedJob>(request, { method: 'POST', path: '/v1/jobs', body, idempotencyKey: key, signal });
      if (idempotencyKey !== undefined) return send(input, idempotencyKey);
      return createOwn((how, key) => send({ ...input, ...how }, key), input.getOrCreate === true);
    },
    plan: async (input, { signal } = {}) => {
      const body = withHeadsOfFiles(await resolveSources(input, signal));
      return requestJson<Plan>(request, { method: 'POST', path: '/v1/plans/jobs', body, signal });
    },
    find: (name, options) => findIn<Job>(request, '/v1/jobs', name, options),
    list: (options) => listOf<Job>(request, '/v1/jobs', options),
    tasks: (number, options) => listOf<Task>(request, path(number, '/tasks'), options),
    taskStates: (number, { signal } = {}) =>
      requestJson<TaskStates>(request, { method: 'GET', path: path(number, '/task-states'), signal }),
    costs: (number, { signal } = {}) =>
      requestJson<CostOverTime>(request, { method: 'GET', path: path(number, '/costs'), signal }),
    at: (number, time, { signal } = {}) =>
      requestJson<JobAt>(request, {
        method: 'GET',
        path: path(number, '/at'),
        query: { time: timeText(time) },
        signal,
      }),
    files: (number, options) => listFiles(request, path(number, '/files'), options),
    logs: (number, options = {}) => readJobLogs(request, path(number, '/logs'), options),
    why: (number, { signal } = {}) => requestJson<Why>(request, { method: 'GET', path: path(number, '/why'), signal }),
    configuration: (number, { signal } = {}) =>
      requestJson<Configuration>(request, { method: 'GET', path: path(number, '/configuration'), signal }),
    events: (number, options = {}) => readEvents<JobEvent>(request, path(number, '/events'), options),
    retry: (number, input = {}, { signal, idempotencyKey = crypto.randomUUID() } = {}) =>
      requestJson<CreatedJob>(request, {
        ...{ method: 'POST', path: path(number, '/retry'), body: input, idempotencyKey, signal },
      }),
    cancel: (number, { signal } = {}) =>
      requestJson<Job>(request, { method: 'POST', path: path(number, '/cancel'), signal }),
    cancelTasks: (number, tasks, { signal } = {}) =>
      requestJson<Job>(request, { method: 'POST', path: path(number, '/tasks/cancel'), body: { tasks }, signal }),
    wait: (number, options = {}) => waitForJob((signal) => get(number, { ...(signal && { signal }) }), options),
  };
}
