// Why an agent, or its work, ends: every abort has such an order as its reason.

export interface StopOrder {
  code: string;
  text: string;
  /** True when the API refused the agent instead of releasing it. */
  failed: boolean;
}

/** The order of an aborted signal; any other reason is reported as unknown. */
export function orderOf(signal: AbortSignal): StopOrder {
  const order: unknown = signal.reason;
  if (typeof order !== 'object' || order === null || !('code' in order && 'text' in order)) {
    return { code: 'UNKNOWN', text: 'The agent was ordered to stop.', failed: false };
  }
  const failed = 'failed' in order && order.failed === true;
  return { code: String(order.code), text: String(order.text), failed };
}
