// One agent's life after its claim: register, then do what the cluster is for until ordered to stop. Returns the exit code:
// 0 when it was ended on purpose, 1 when the API refuses it for good, 3 when nobody answered it for too long.
import { aliveEveryMs } from '../../domain/limits.ts';
import { bundle as bundleSchema } from '../../schema/agent.ts';
import { createApiClient } from '../api-client/client.ts';
import { aliveWithin } from './watchdog.ts';
import { deadManCode, deadManExitCode, watchDeadMan } from './watchdog-timer.ts';
import { exchangeLoop } from '../job/exchange-loop.ts';
import type { AgentInput } from './input.ts';
import { createLeave } from '../job/interruption.ts';
import type { Leave } from '../job/interruption.ts';
import { createWorkStopping } from '../job/lost.ts';
import { createSession } from '../api-client/session.ts';
import type { Session } from '../api-client/session.ts';
import { createReports } from '../api-client/reports.ts';
import { createResults } from '../job/results.ts';
import { createTaskStarter } from '../job/tasks.ts';

export async function runAgent(input: AgentInput): Promise<number> {
  const { instance, bootId, boot, log, stopping } = input;
  const deadMan = watchDeadMan(stopping, log);
  const { signal } = stopping;
  const client = createApiClient({ apiUrl: boot.apiUrl, signal, onTrouble: log.write, onHeard: deadMan.heard });
  const session = createSession({ client, instance, bootId, boot, log, stopping });
  const registered = await session.register();
  if (registered !== null) {
    deadMan.limit(registered.deadManMs);
    log.write(`Registered as ${instance} of cluster ${registered.cluster.name} (${registered.role}).`);
    if (registered.job === null) await runDask(input, session);
    else await runJob(input, session);
  }
  const order = session.order();
  log.write(`The agent ends: ${order.text} (${order.code})`);
  if (order.code === deadManCode) return deadManExitCode;
  return order.failed ? 1 : 0;
}

async function runJob(input: AgentInput, session: Session): Promise<void> {
  const { stopping, log, watchNotices } = input;
  const { role, deadManMs } = session.registered();
  const reports = createReports({ ...input, session, aliveEveryMs: aliveWithin(aliveEveryMs, deadManMs) });
  const leave = createLeave();
  watchNotices?.((notice) => {
    log.write(`The cloud has given notice: ${notice.kind} at ${notice.at}.`);
    reports.notice(notice);
    if (notice.kind === 'terminate') leave.begin(notice);
  });
  const work = async (): Promise<void> => {
    const { stopping: workStopping, lost } = createWorkStopping(stopping);
    await runTasks({ ...input, stopping: workStopping }, session, role === 'head', leave);
    const text = 'The cloud takes this instance back, and it holds no work any more.';
    if (!stopping.signal.aborted) reports.leave(lost() ?? { code: 'INTERRUPTED', text });
  };
  await Promise.all([work(), reports.run()]);
}

async function runTasks(input: AgentInput, session: Session, isHead: boolean, leave: Leave): Promise<void> {
  const { directory, log, stopping } = input;
  const bundle = await session.call({
    method: 'GET',
    path: '/v1/agent/bundle',
    parse: (json) => bundleSchema.parse(json),
  });
  if (bundle === null) return;
  const { start, cleaned } = createTaskStarter({ ...input, bundle, session });
  await exchangeLoop({ session, start, results: createResults(directory), log, stopping, isHead, leave });
  await cleaned();
}

/** Loaded when it is needed: tasks should not wait for a library of certificates. */
async function runDask(input: AgentInput, session: Session): Promise<void> {
  const { daskAgent } = await import('../dask/agent.ts');
  await daskAgent(input, session);
}
