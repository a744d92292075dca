// Jobs over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { numberParam } from '../../schema/common.ts';
import { jobEventsQuery } from '../../schema/events.ts';
import { listJobsQuery, logsQuery, tasksQuery, taskStates } from '../../schema/jobs.ts';
import { cancelJob, cancelTasksOfJob } from '../../services/jobs/cancel.ts';
import { createJob } from '../../services/jobs/create.ts';
import { readJobEvents } from '../../services/jobs/events.ts';
import { getJob } from '../../services/jobs/get.ts';
import { listJobs } from '../../services/jobs/list.ts';
import { retryJob } from '../../services/jobs/retry.ts';
import { readLogs } from '../../services/jobs/logs.ts';
import { readTaskStates } from '../../services/jobs/task-states.ts';
import { listTasks } from '../../services/jobs/tasks.ts';
import { explainJobNow } from '../../services/why.ts';
import { answerLines } from './answer-lines.ts';
import { withContents } from '../large-bodies/contents.ts';
import { contextOf, type App } from './app.ts';
import { idempotencyHeader, json, jsonBody, named, ndjson, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['jobs'], security: tokenSecurity };

export const jobRoutes = {
  create: createRoute({
    ...common,
    method: 'post',
    path: '/v1/jobs',
    operationId: 'createJob',
    summary: 'Submit a job',
    request: { headers: idempotencyHeader, body: jsonBody(named.createJob) },
    responses: {
      200: json(named.createdJob, 'An earlier job, found by Idempotency-Key or getOrCreate.'),
      201: json(named.createdJob, 'A new job.'),
      ...problems,
    },
  }),
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs',
    operationId: 'listJobs',
    summary: 'List jobs, newest first',
    request: { query: listJobsQuery },
    responses: { 200: json(named.jobPage, 'A page of jobs.'), ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}',
    operationId: 'getJob',
    summary: 'Get a job',
    request: { params: numberParam },
    responses: { 200: json(named.job, 'The job.'), ...problems },
  }),
  tasks: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/tasks',
    operationId: 'listTasks',
    summary: 'List the tasks of a job, by index',
    request: { params: numberParam, query: tasksQuery },
    responses: { 200: json(named.taskPage, 'A page of tasks.'), ...problems },
  }),
  taskStates: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/task-states',
    operationId: 'readTaskStates',
    summary: 'Get the states of all tasks of a job, run-length encoded, and a histogram of their durations',
    request: { params: numberParam },
    responses: { 200: json(taskStates.openapi('TaskStates'), 'The states of the tasks.'), ...problems },
  }),
  logs: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/logs',
    operationId: 'readLogs',
    summary: "Read the log lines of a job's tasks, as NDJSON",
    request: { params: numberParam, query: logsQuery },
    responses: {
      200: ndjson(named.logLine, 'One LogLine per line.'),
      ...problems,
    },
  }),
  events: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/events',
    operationId: 'readJobEvents',
    summary: 'Read the events of a job, as NDJSON; the cluster of the same number has its own events',
    request: { params: numberParam, query: jobEventsQuery },
    responses: { 200: ndjson(named.jobEvent, 'One JobEvent per line.'), ...problems },
  }),
  why: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/why',
    operationId: 'explainJob',
    summary: 'Explain why a job runs or waits, is not larger, has its instance types, and has stopped',
    request: { params: numberParam },
    responses: { 200: json(named.why, 'Sentences, each with the facts that support it.'), ...problems },
  }),
  retry: createRoute({
    ...common,
    method: 'post',
    path: '/v1/jobs/{number}/retry',
    operationId: 'retryJob',
    summary: 'Retry the failed tasks of an ended job, as a new job; for its creator',
    request: { params: numberParam, headers: idempotencyHeader, body: jsonBody(named.retryJob) },
    responses: {
      200: json(named.createdJob, 'An earlier job, found by Idempotency-Key.'),
      201: json(named.createdJob, 'A new job.'),
      ...problems,
    },
  }),
  cancel: createRoute({
    ...common,
    method: 'post',
    path: '/v1/jobs/{number}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    request: { params: numberParam },
    responses: { 202: json(named.job, 'The job, which is ending or has ended.'), ...problems },
  }),
  cancelTasks: createRoute({
    ...common,
    method: 'post',
    path: '/v1/jobs/{number}/tasks/cancel',
    operationId: 'cancelTasks',
    summary: 'Cancel some tasks of a job; the others continue',
    request: { params: numberParam, body: jsonBody(named.cancelTasks) },
    responses: { 202: json(named.job, 'The job.'), ...problems },
  }),
};

export function mountJobs(app: App): void {
  app.openapi(jobRoutes.create, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key'];
    const body = withContents(c.req.valid('json'), c.var.largeContents);
    const created = await createJob(contextOf(c, c.var.actor), { body, idempotencyKey });
    c.header('Location', `/v1/jobs/${created.number}`);
    return c.json(created, created.existing ? 200 : 201);
  });
  app.openapi(jobRoutes.list, async (c) =>
    c.json(await listJobs(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(jobRoutes.get, async (c) => c.json(await getJob(contextOf(c, c.var.actor), c.req.valid('param')), 200));
  app.openapi(jobRoutes.tasks, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return c.json(await listTasks(contextOf(c, c.var.actor), input), 200);
  });
  app.openapi(jobRoutes.taskStates, async (c) =>
    c.json(await readTaskStates(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(jobRoutes.logs, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return answerLines(c, input.follow, (how) => readLogs(contextOf(c, c.var.actor), { ...input, ...how }));
  });
  app.openapi(jobRoutes.events, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return answerLines(c, input.follow, (how) => readJobEvents(contextOf(c, c.var.actor), { ...input, ...how }));
  });
  app.openapi(jobRoutes.retry, async (c) => {
    const { number } = c.req.valid('param');
    const idempotencyKey = c.req.valid('header')['idempotency-key'];
    const created = await retryJob(contextOf(c, c.var.actor), { number, body: c.req.valid('json'), idempotencyKey });
    return c.json(created, created.existing ? 200 : 201);
  });
  app.openapi(jobRoutes.cancel, async (c) =>
    c.json(await cancelJob(contextOf(c, c.var.actor), c.req.valid('param')), 202),
  );
  app.openapi(jobRoutes.cancelTasks, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await cancelTasksOfJob(contextOf(c, c.var.actor), input), 202);
  });
  app.openapi(jobRoutes.why, async (c) =>
    c.json(await explainJobNow(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
