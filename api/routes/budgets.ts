// Budgets over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { budget as shownBudget, budgetList, budgetParam, putBudget as input } from '../../schema/budgets.ts';
import { listBudgets, putBudget, removeBudget } from '../../services/budgets/budgets.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['costs'], security: tokenSecurity };
const budget = shownBudget.openapi('Budget');

export const budgetRoutes = {
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/budgets',
    operationId: 'listBudgets',
    summary: 'List the budgets of the workspace, with the used amounts',
    responses: { 200: json(budgetList.openapi('BudgetList'), 'All of them, by name.'), ...problems },
  }),
  put: createRoute({
    ...common,
    method: 'put',
    path: '/v1/budgets/{budget}',
    operationId: 'putBudget',
    summary: 'Create or replace a budget; for admins',
    request: { params: budgetParam, body: jsonBody(input.openapi('PutBudget')) },
    responses: { 200: json(budget, 'The budget, which applies immediately.'), ...problems },
  }),
  remove: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/budgets/{budget}',
    operationId: 'removeBudget',
    summary: 'Delete a budget; for admins',
    request: { params: budgetParam },
    responses: { 200: json(budget, 'The deleted budget.'), ...problems },
  }),
};

export function mountBudgets(app: App): void {
  app.openapi(budgetRoutes.list, async (c) => c.json(await listBudgets(contextOf(c, c.var.actor)), 200));
  app.openapi(budgetRoutes.put, async (c) => {
    const asked = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await putBudget(contextOf(c, c.var.actor), asked), 200);
  });
  app.openapi(budgetRoutes.remove, async (c) =>
    c.json(await removeBudget(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
