// Notifications and webhooks over HTTP.
import { createRoute, z } from '@hono/zod-openapi';

import { approvalState } from '../../schema/approvals.ts';
import {
  approvalAnswer,
  deliveriesQuery,
  notificationsQuery,
  signatureHeaders,
  webhookParams,
} from '../../schema/webhooks.ts';
import { answerApproval } from '../../services/webhooks/answer.ts';
import { listDeliveries, listNotifications } from '../../services/webhooks/notifications.ts';
import { createWebhook, deleteWebhook, listWebhooks, testWebhook } from '../../services/webhooks/webhooks.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['webhooks'], security: tokenSecurity };

export const webhookRoutes = {
  create: createRoute({
    ...common,
    method: 'post',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Create a webhook: notifications of the workspace are sent to its URL; for admins',
    request: { body: jsonBody(named.createWebhook) },
    responses: { 201: json(named.createdWebhook, 'The webhook, with its secret.'), ...problems },
  }),
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'List the webhooks of the workspace, oldest first',
    responses: { 200: json(named.webhookList, 'The complete list.'), ...problems },
  }),
  delete: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/webhooks/{webhook}',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook and its pending deliveries; for admins',
    request: { params: webhookParams },
    responses: { 200: json(named.webhook, 'The deleted webhook.'), ...problems },
  }),
  test: createRoute({
    ...common,
    method: 'post',
    path: '/v1/webhooks/{webhook}/test',
    operationId: 'testWebhook',
    summary: 'Send a test notification to a webhook; for admins',
    request: { params: webhookParams },
    responses: { 202: json(z.object({ delivery: z.number().int() }), 'The number of the delivery.'), ...problems },
  }),
  answer: createRoute({
    tags: common.tags,
    method: 'post',
    path: '/v1/approval-answers/{webhook}',
    operationId: 'answerApproval',
    summary:
      "Approve or reject a job or cluster as the receiver of a webhook; signed with the webhook's secret, without a token",
    request: {
      params: webhookParams,
      headers: signatureHeaders,
      body: jsonBody(approvalAnswer.openapi('ApprovalAnswer')),
    },
    responses: {
      200: json(
        z.object({ number: z.number().int(), state: approvalState }).openapi('AnsweredApproval'),
        'The decision is recorded.',
      ),
      ...problems,
    },
  }),
  deliveries: createRoute({
    ...common,
    method: 'get',
    path: '/v1/webhook-deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List webhook deliveries, newest first',
    request: { query: deliveriesQuery },
    responses: { 200: json(named.deliveryPage, 'A page of deliveries.'), ...problems },
  }),
  notifications: createRoute({
    ...common,
    method: 'get',
    path: '/v1/notifications',
    operationId: 'listNotifications',
    summary: 'List the notifications of the workspace of the last 30 days, newest first',
    request: { query: notificationsQuery },
    responses: { 200: json(named.notificationPage, 'A page of notifications.'), ...problems },
  }),
};

export function mountWebhooks(app: App): void {
  app.openapi(webhookRoutes.create, async (c) =>
    c.json(await createWebhook(contextOf(c, c.var.actor), c.req.valid('json')), 201),
  );
  app.openapi(webhookRoutes.list, async (c) => c.json(await listWebhooks(contextOf(c, c.var.actor)), 200));
  app.openapi(webhookRoutes.delete, async (c) =>
    c.json(await deleteWebhook(contextOf(c, c.var.actor), c.req.valid('param').webhook), 200),
  );
  app.openapi(webhookRoutes.test, async (c) =>
    c.json(await testWebhook(contextOf(c, c.var.actor), c.req.valid('param').webhook), 202),
  );
  app.openapi(webhookRoutes.answer, async (c) => {
    const { webhook } = c.req.valid('param');
    const signed = { webhook, headers: c.req.valid('header'), raw: await c.req.text(), body: c.req.valid('json') };
    const { number, state } = await answerApproval(c.var.deps, signed);
    return c.json({ number, state }, 200);
  });
  app.openapi(webhookRoutes.deliveries, async (c) =>
    c.json(await listDeliveries(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(webhookRoutes.notifications, async (c) =>
    c.json(await listNotifications(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
}
