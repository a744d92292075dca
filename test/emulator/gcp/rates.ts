// The request rates of the Compute Engine API: each group of methods has a quota a minute, which is full again when the next
// minute begins. Google's documentation of rate quotas (https://cloud.google.com/compute/api-quota, 2026-08): 1,500 of each
// group.
import type { Rates } from '../faults.ts';
import { GcpError } from './gcp-error.ts';

const perMinute = 1_500;
const minuteMs = 60_000;

export const ratesOfGce: Rates = () => {
  const used = new Map<string, { minute: number; calls: number }>();
  return (action, nowMs) => {
    const group = groupOf(action);
    const minute = Math.floor(nowMs / minuteMs);
    const before = used.get(group);
    const calls = before?.minute === minute ? before.calls + 1 : 1;
    used.set(group, { minute, calls });
    return calls <= perMinute;
  };
};

function groupOf(action: string): string {
  if (/operations/i.test(action)) return action.endsWith('List') ? 'list' : 'operation reads';
  if (/list$/i.test(action)) return 'list';
  return action.endsWith('.get') ? 'read' : 'mutate';
}

/** 403, and not 429. */
export const rateLimitExceeded = (): GcpError => new GcpError(403, 'rateLimitExceeded', 'Rate Limit Exceeded');
