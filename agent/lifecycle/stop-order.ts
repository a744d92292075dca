// Why an agent, or its work, ends: whatever aborts it gives an order as the reason.

export interface StopOrder {
  code: string;
  text: string;
  /** True when the API refused us rather than released us. */
  failed: boolean;
}

/** Of an aborted signal; anything else than an order is reported as unknown. */
export function orderOf(signal: AbortSignal): StopOrder {
  const order: unknown = signal.reason;
  if (typeof order !== 'object' || order === null || !('code' in order && 'text' in order)) {
    return { code: 'UNKNOWN', text: 'The agent was ordered to stop.', failed: false };
  }
  const failed = 'failed' in order && order.failed === true;
  return { code: String(order.code), text: String(order.text), failed };
}
