// Schedules of jobs over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { scheduleParams } from '../../schema/schedules.ts';
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  triggerSchedule,
} from '../../services/schedules/schedules.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['jobs'], security: tokenSecurity };
const request = { params: scheduleParams };
const answers = { 202: json(named.schedule, 'The schedule.'), ...problems };

export const scheduleRoutes = {
  create: createRoute({
    ...common,
    method: 'post',
    path: '/v1/schedules',
    operationId: 'createSchedule',
    summary: 'Create a schedule: a job at the times of a cron expression',
    request: { body: jsonBody(named.createSchedule) },
    responses: { 201: json(named.schedule, 'The schedule.'), ...problems },
  }),
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/schedules',
    operationId: 'listSchedules',
    summary: 'List the schedules of the workspace, by name',
    responses: { 200: json(named.scheduleList, 'The complete list.'), ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/schedules/{schedule}',
    operationId: 'getSchedule',
    summary: 'Get a schedule, with its next and last runs',
    request,
    responses: { 200: json(named.scheduleDetails, 'The schedule.'), ...problems },
  }),
  pause: createRoute({
    ...common,
    method: 'post',
    path: '/v1/schedules/{schedule}/pause',
    operationId: 'pauseSchedule',
    summary: 'Pause a schedule; for its creator and admins',
    request,
    responses: answers,
  }),
  resume: createRoute({
    ...common,
    method: 'post',
    path: '/v1/schedules/{schedule}/resume',
    operationId: 'resumeSchedule',
    summary: 'Resume a schedule after a pause or a stop; for its creator',
    request,
    responses: answers,
  }),
  trigger: createRoute({
    ...common,
    method: 'post',
    path: '/v1/schedules/{schedule}/trigger',
    operationId: 'triggerSchedule',
    summary: 'Trigger a run of a schedule now, paused or not; for its creator',
    request,
    responses: answers,
  }),
  delete: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/schedules/{schedule}',
    operationId: 'deleteSchedule',
    summary: 'Delete a schedule; its jobs continue; for its creator and admins',
    request,
    responses: answers,
  }),
};

export function mountSchedules(app: App): void {
  app.openapi(scheduleRoutes.create, async (c) =>
    c.json(await createSchedule(contextOf(c, c.var.actor), c.req.valid('json')), 201),
  );
  app.openapi(scheduleRoutes.list, async (c) => c.json(await listSchedules(contextOf(c, c.var.actor)), 200));
  app.openapi(scheduleRoutes.get, async (c) =>
    c.json(await getSchedule(contextOf(c, c.var.actor), c.req.valid('param').schedule), 200),
  );
  app.openapi(scheduleRoutes.pause, async (c) =>
    c.json(await pauseSchedule(contextOf(c, c.var.actor), c.req.valid('param').schedule, true), 202),
  );
  app.openapi(scheduleRoutes.resume, async (c) =>
    c.json(await pauseSchedule(contextOf(c, c.var.actor), c.req.valid('param').schedule, false), 202),
  );
  app.openapi(scheduleRoutes.trigger, async (c) =>
    c.json(await triggerSchedule(contextOf(c, c.var.actor), c.req.valid('param').schedule), 202),
  );
  app.openapi(scheduleRoutes.delete, async (c) =>
    c.json(await deleteSchedule(contextOf(c, c.var.actor), c.req.valid('param').schedule), 202),
  );
}
