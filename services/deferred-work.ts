// What every replica of the API does in the background, about once a second: it starts admitted workflows, delivers stored
// commands, counts budgets, deletes unused environments, runs the checks of the clouds once an hour, moves the mark of the numbers, writes which agents it has heard and looks for silent ones, and reads which clusters
// have new orders. It sends what is due to webhooks. Doing any of it twice is harmless.
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
  // Apart: what waits for Temporal must not look like time in which no agent was heard.
  await Promise.all([
    repeat(deps, startAndDeliver),
    repeat(deps, () => watchAgents(deps)),
    repeat(deps, () => deps.liveness.suspect(deps)),
    repeat(deps, () => deps.webhooks.round()),
    repeat(deps, () => countBudgets(deps), countEveryMs),
    repeat(deps, () => runSchedules(deps)),
    repeat(deps, () => removeUnusedArchives(deps), removeUnusedEveryMs),
    // Not at once: a restart must not ask each cloud again.
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

/** Starts first: a command may be for a workflow that is started now. Never rejects. */
export async function workOnce(deps: Working): Promise<void> {
  // So that an outage is known before a request meets it, and its end when no request comes.
  await deps.workflows.isReachable();
  await deps.starter.round();
  await deliverCommands(deps).catch((error: unknown) =>
    deps.logger.warn({ err: error }, 'stored commands could not be read now'),
  );
}

const everyMs = 1_000;
/** How often it is looked which checks are due. */
const cloudsEveryMs = 300_000;
