// Budgets of the workspace.
import type { Budget, BudgetList, PutBudget } from '../schema/budgets.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface BudgetsApi {
  /** Each budget with its usage, in US dollars. */
  list(options?: CallOptions): Promise<Budget[]>;
  /**
   * Creates or replaces a budget; for admins. It takes effect at once. Throws PermissionError, ValidationError.
   *
   * ```ts
   * await client.budgets.set('ml-team', { dollars: 500, period: 'month', action: 'refuse', warnAtPercent: 80 });
   * ```
   */
  set(name: string, budget: PutBudget, options?: CallOptions): Promise<Budget>;
  /** Returns the removed budget. Throws NotFoundError, PermissionError. */
  remove(name: string, options?: CallOptions): Promise<Budget>;
}

export function createBudgetsApi(request: SendRequest): BudgetsApi {
  const path = (name: string): string => `/v1/budgets/${encodeURIComponent(name)}`;
  return {
    list: async ({ signal } = {}) =>
      (await requestJson<BudgetList>(request, { method: 'GET', path: '/v1/budgets', signal })).items,
    set: (name, body, { signal } = {}) =>
      requestJson<Budget>(request, { method: 'PUT', path: path(name), body, signal }),
    remove: (name, { signal } = {}) => requestJson<Budget>(request, { method: 'DELETE', path: path(name), signal }),
  };
}
