// Approvals before spend.
import type { Approval, ApprovalPage, ApprovalRule, PutApprovalRule } from '../schema/approvals.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface ApprovalsApi {
  /** Jobs and clusters that wait for an approval, newest first; with `all` also the decided ones. At most 1,000. */
  list(options?: CallOptions & { all?: boolean }): Promise<Approval[]>;
  /**
   * Lets a job or cluster start; for admins. An admin approves their own only where the workspace allows it. Throws PermissionError,
   * NotFoundError, ConflictError for one that was decided otherwise or has ended.
   *
   * ```ts
   * for (const { number } of await client.approvals.list()) await client.approvals.approve(number);
   * ```
   */
  approve(number: number, options?: CallOptions & { comment?: string }): Promise<Approval>;
  /** Ends it without a start; for admins. */
  reject(number: number, options?: CallOptions & { comment?: string }): Promise<Approval>;
  /** The cost above which a job or cluster waits; both thresholds null: nothing needs an approval. */
  rule(options?: CallOptions): Promise<ApprovalRule>;
  /** Replaces the rule for later requests; for admins. */
  setRule(rule: PutApprovalRule, options?: CallOptions): Promise<ApprovalRule>;
}

export function createApprovalsApi(request: SendRequest): ApprovalsApi {
  const path = '/v1/workspace/approval';
  const decide =
    (verb: 'approve' | 'reject'): ApprovalsApi['approve'] =>
    (number, { signal, comment } = {}) =>
      requestJson<Approval>(request, {
        ...{ method: 'POST', path: `/v1/approvals/${number}/${verb}`, signal },
        body: comment === undefined ? {} : { comment },
      });
  return {
    list: async ({ signal, all = false } = {}) => {
      const query = `?limit=1000${all ? '' : '&state=pending'}`;
      return (await requestJson<ApprovalPage>(request, { method: 'GET', path: `/v1/approvals${query}`, signal })).items;
    },
    approve: decide('approve'),
    reject: decide('reject'),
    rule: ({ signal } = {}) => requestJson<ApprovalRule>(request, { method: 'GET', path, signal }),
    setRule: (body, { signal } = {}) => requestJson<ApprovalRule>(request, { method: 'PUT', path, body, signal }),
  };
}
