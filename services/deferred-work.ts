// The background work of every API replica, about once a second: starts admitted workflows, delivers stored commands, counts budgets, deletes unused
// environments, runs the clouds' checks once an hour, advances the mark of the numbers, stores which agents it has heard, finds silent agents, reads
// which clusters have new orders, and sends due webhook deliveries. All of it is idempotent.
import { setTimeout as sleep } from 'node:timers/promises';

import { countEveryMs } from '../domain/budget/budget.ts';
import { countBudgets } from './budgets/count.ts';
import { checkDueClouds } from './clouds/clouds.ts';
import type { Deps } from './context.ts';
import { deliverCommands } from './commands/deliver.ts';
import { removeUnusedArchives, removeUnusedEveryMs } from './shared-builds/remove-unused.ts';
import { runSchedules } from './schedules/runs.ts';
import { moveMark } from './number-mark.ts';

type Working = Pick<
  Deps,
  | 'starter'
  | 'workflows'
  | 'store'
  | 'vault'
  | 'logger'
  | 'views'
  | 'stopping'
  | 'objects'
  | 'damaged'
  | 'orders'
  | 'heard'
  | 'liveness'
  | 'webhooks'
  | 'now'
  | 'providers'
  | 'deploymentId'
>;

/** Resolves when the process ends. */
export async function runDeferredWork(deps: Deps): Promise<void> {
  let mark: number | null = null;
  const startAndDeliver = async (): Promise<void> => {
    await workOnce(deps);
    mark = await moveMark(deps, mark).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the mark of the numbers could not be moved now');
      return mark;
    });
  };
  // In separate loops: waiting for Temporal must not count as time in which no agent was heard.
  await Promise.all([
    repeat(deps, startAndDeliver),
    repeat(deps, () => watchAgents(deps)),
    repeat(deps, () => deps.liveness.suspect(deps)),
    repeat(deps, () => deps.webhooks.round()),
    repeat(deps, () => countBudgets(deps), countEveryMs),
    repeat(deps, () => runSchedules(deps)),
    repeat(deps, () => removeUnusedArchives(deps), removeUnusedEveryMs),
    // Not at once, because a restart must not query each cloud again.
    pause(deps, cloudsEveryMs).then(() => repeat(deps, () => checkDueClouds(deps), cloudsEveryMs)),
  ]);
  await deps.webhooks.settled();
  await deps.liveness.end(deps);
}

const pause = ({ stopping }: Pick<Working, 'stopping'>, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal: stopping, ref: false }).catch(() => undefined);

async function repeat({ stopping }: Working, work: () => Promise<unknown>, pauseMs = everyMs): Promise<void> {
  while (!stopping.aborted) {
    await work();
    await pause({ stopping }, pauseMs);
  }
}

/** Never rejects. */
async function watchAgents(deps: Working): Promise<void> {
  await deps.liveness.listen(deps);
  await deps.orders
    .round()
    .catch((error: unknown) => deps.logger.warn({ err: error }, 'new orders could not be read now'));
}

/** Starts first, because a command may be for a workflow that is started now. Never rejects. */
export async function workOnce(deps: Working): Promise<void> {
  // Detects an outage before a request meets it, and its end without a request.
  await deps.workflows.isReachable();
  await deps.starter.round();
  await deliverCommands(deps).catch((error: unknown) =>
    deps.logger.warn({ err: error }, 'stored commands could not be read now'),
  );
}

const everyMs = 1_000;
/** How often due checks are searched. */
const cloudsEveryMs = 300_000;
