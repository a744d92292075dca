// Jobs over HTTP.
import { createRoute, z } from '@hono/zod-openapi';

import { numberParam } from '../../schema/common.ts';
import { listJobsQuery, logsQuery } from '../../schema/jobs.ts';
import { cancelJob } from '../services/jobs/cancel.ts';
import { createJob } from '../services/jobs/create.ts';
import { getJob } from '../services/jobs/get.ts';
import { listJobs } from '../services/jobs/list.ts';
import { readLogs } from '../services/jobs/logs.ts';
import { listTasks } from '../services/jobs/tasks.ts';
import { contextOf, type App } from './app.ts';
import { ndjsonStream } from './ndjson.ts';
import { json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

// Typed as any text, because the router takes whatever ends in "json" for one JSON value.
const ndjson: string = 'application/x-ndjson';

const common = { tags: ['jobs'], security: tokenSecurity };

const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'printable ASCII without blanks, at most 200 characters')
    .optional()
    .openapi({ description: 'Repeating a request under the same key within 24 hours gives the same job.' }),
});

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
    summary: 'One job',
    request: { params: numberParam },
    responses: { 200: json(named.job, 'The job.'), ...problems },
  }),
  tasks: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/tasks',
    operationId: 'listTasks',
    summary: "A job's tasks, in the order of their index",
    request: { params: numberParam, query: listJobsQuery },
    responses: { 200: json(named.taskPage, 'A page of tasks.'), ...problems },
  }),
  logs: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/logs',
    operationId: 'readLogs',
    summary: "What a job's tasks printed, a line of JSON each",
    request: { params: numberParam, query: logsQuery },
    responses: {
      200: { description: 'One LogLine per line.', content: { [ndjson]: { schema: named.logLine } } },
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
};

export function mountJobs(app: App): void {
  app.openapi(jobRoutes.create, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key'];
    const created = await createJob(contextOf(c, c.var.actor), { body: c.req.valid('json'), idempotencyKey });
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
  app.openapi(jobRoutes.logs, async (c) => {
    const { follow, ...query } = c.req.valid('query');
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, c.req.raw.signal]);
    const input = { ...c.req.valid('param'), ...query, follow: follow === 'true', signal };
    const lines = await readLogs(contextOf(c, c.var.actor), input);
    const { deps, requestId } = c.var;
    const stream = ndjsonStream(lines, {
      leave: () => left.abort(),
      onError: (error) => deps.logger.warn({ requestId, err: error }, 'a log stream was cut short'),
    });
    return c.body(stream, 200, { 'Content-Type': ndjson, 'Cache-Control': 'no-store' });
  });
  app.openapi(jobRoutes.cancel, async (c) =>
    c.json(await cancelJob(contextOf(c, c.var.actor), c.req.valid('param')), 202),
  );
}
