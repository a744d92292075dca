// One agent's life after its claim: register, fetch the bundle, then exchange and report until ordered to stop. Returns
// the exit code: 0 when it was ended on purpose, 1 when the API refuses it for good.
import { setTimeout as sleep } from 'node:timers/promises';

import { bundle as bundleSchema, reportAnswerBody } from '../schema/agent.ts';
import { createApiClient } from './api-client.ts';
import type { Boot } from './boot.ts';
import { exchangeLoop } from './exchange-loop.ts';
import type { Log } from './log.ts';
import { createSession } from './register.ts';
import type { Session } from './register.ts';
import { createResults } from './results.ts';
import { createTaskStarter } from './tasks.ts';

export interface AgentInput {
  instance: string;
  /** Random per agent process: the API gives an instance's name to the first that comes. */
  bootId: string;
  boot: Boot;
  directory: string;
  logDirectory: string;
  /** PATH, HOME, LANG and TMPDIR, as tasks get them. */
  environment: Record<string, string | undefined>;
  log: Log;
  /** Aborted with a stop order by signals, tombstones and answers alike. */
  stopping: AbortController;
}

/** Coarse liveness: a job's exchanges say the same more often. */
const aliveEveryMs = 3 * 60_000;

export async function runAgent(input: AgentInput): Promise<number> {
  const { instance, bootId, boot, log, stopping } = input;
  const client = createApiClient({ apiUrl: boot.apiUrl, signal: stopping.signal, onTrouble: log.write });
  const session = createSession({ client, instance, bootId, boot, log, stopping });
  const registered = await session.register();
  if (registered !== null) {
    log.write(`Registered as ${instance} of cluster ${registered.cluster.name} (${registered.role}).`);
    const work = registered.job === null ? untilAborted(stopping.signal) : runTasks(input, session);
    await Promise.all([work, reportAlive(session, input)]);
  }
  const order = session.order();
  log.write(`The agent ends: ${order.text} (${order.code})`);
  return order.failed ? 1 : 0;
}

async function runTasks(
  { boot, instance, directory, logDirectory, environment, log, stopping }: AgentInput,
  session: Session,
): Promise<void> {
  const bundle = await session.call({
    method: 'GET',
    path: '/v1/agent/bundle',
    parse: (json) => bundleSchema.parse(json),
  });
  if (bundle === null) return;
  const start = createTaskStarter({ instance, boot, bundle, directory, logDirectory, environment, session });
  await exchangeLoop({ session, start, results: createResults(directory), log, stopping });
}

async function reportAlive(session: Session, { bootId, boot, stopping }: AgentInput): Promise<void> {
  const body = { kind: 'alive', bootId, address: boot.address, text: '' };
  for (;;) {
    await sleep(aliveEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/report',
      body: () => body,
      parse: (json) => reportAnswerBody.parse(json),
    });
    if (answer === null) return;
    session.renew(answer.token);
    if (answer.stop !== null) stopping.abort(answer.stop);
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
