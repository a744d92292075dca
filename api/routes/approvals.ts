// Approvals before spend over HTTP.
import { createRoute } from '@hono/zod-openapi';

import * as schema from '../../schema/approvals.ts';
import { numberParam } from '../../schema/common.ts';
import {
  decideApproval,
  listApprovals,
  putApprovalRule,
  readApprovalRule,
} from '../../services/approvals/approvals.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['costs'], security: tokenSecurity };
const approval = schema.approval.openapi('Approval');
const rule = schema.approvalRule.openapi('ApprovalRule');
const decision = jsonBody(schema.decideApproval.openapi('DecideApproval'));

export const approvalRoutes = {
  rule: createRoute({
    ...common,
    method: 'get',
    path: '/v1/workspace/approval',
    operationId: 'getApprovalRule',
    summary: 'Get the cost thresholds above which jobs and clusters need an approval',
    responses: { 200: json(rule, 'The thresholds; when both are null, nothing needs an approval.'), ...problems },
  }),
  putRule: createRoute({
    ...common,
    method: 'put',
    path: '/v1/workspace/approval',
    operationId: 'putApprovalRule',
    summary: 'Set the cost thresholds above which jobs and clusters need an approval; for admins',
    request: { body: jsonBody(schema.putApprovalRule.openapi('PutApprovalRule')) },
    responses: { 200: json(rule, 'The rule for later requests.'), ...problems },
  }),
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/approvals',
    operationId: 'listApprovals',
    summary: 'List approvals with their decisions, newest first',
    request: { query: schema.listApprovals },
    responses: { 200: json(schema.approvalPage.openapi('ApprovalPage'), 'A page of them.'), ...problems },
  }),
  approve: createRoute({
    ...common,
    method: 'post',
    path: '/v1/approvals/{number}/approve',
    operationId: 'approve',
    summary: 'Approve a job or cluster; for admins',
    request: { params: numberParam, body: decision },
    responses: { 200: json(approval, 'Approved; it starts as soon as the quota has room for it.'), ...problems },
  }),
  reject: createRoute({
    ...common,
    method: 'post',
    path: '/v1/approvals/{number}/reject',
    operationId: 'reject',
    summary: 'Reject a job or cluster that waits for an approval; for admins',
    request: { params: numberParam, body: decision },
    responses: { 200: json(approval, 'The rejected job or cluster, which ended without a start.'), ...problems },
  }),
};

export function mountApprovals(app: App): void {
  app.openapi(approvalRoutes.rule, async (c) => c.json(await readApprovalRule(contextOf(c, c.var.actor)), 200));
  app.openapi(approvalRoutes.putRule, async (c) =>
    c.json(await putApprovalRule(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.openapi(approvalRoutes.list, async (c) =>
    c.json(await listApprovals(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(approvalRoutes.approve, async (c) => {
    const asked = { ...c.req.valid('param'), ...c.req.valid('json'), approve: true };
    return c.json(await decideApproval(contextOf(c, c.var.actor), asked), 200);
  });
  app.openapi(approvalRoutes.reject, async (c) => {
    const asked = { ...c.req.valid('param'), ...c.req.valid('json'), approve: false };
    return c.json(await decideApproval(contextOf(c, c.var.actor), asked), 200);
  });
}
