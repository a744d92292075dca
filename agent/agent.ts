// One agent after its claim: it registers, then runs its cluster's work until it is ordered to stop. Returns the exit code: 0
// for an ordered end, 1 when the API refuses it for good, 3 when the watchdog ended it.
import { createApiClient } from './api-client/client.ts';
import { createSession } from './api-client/session.ts';
import type { AgentInput } from './lifecycle/input.ts';
import { watchdogCode, watchdogExitCode, runWatchdog } from './lifecycle/watchdog-timer.ts';

export async function runAgent(input: AgentInput): Promise<number> {
  const { instance, bootId, boot, log, stopping } = input;
  const watchdog = runWatchdog(stopping, log);
  const { signal } = stopping;
  const client = createApiClient({ apiUrl: boot.apiUrl, signal, onTrouble: log.write, onHeard: watchdog.heard });
  const session = createSession({ client, instance, bootId, boot, log, stopping });
  const registered = await session.register();
  if (registered !== null) {
    watchdog.limit(registered.watchdogTimeoutMs);
    log.write(`Registered as ${instance} of cluster ${registered.cluster.name} (${registered.role}).`);
    // Loaded on demand: tasks should not wait for the certificate library, which only Dask needs.
    const { runWork } = registered.job === null ? await import('./dask/agent.ts') : await import('./job/agent.ts');
    await runWork(input, session);
  }
  const order = session.order();
  log.write(`The agent ends: ${order.text} (${order.code})`);
  if (order.code === watchdogCode) return watchdogExitCode;
  return order.failed ? 1 : 0;
}
