// What every replica of the API does in the background, about once a second: it starts admitted workflows, delivers stored
// commands, and moves the mark of the numbers. Doing any of it twice is harmless.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Deps } from './context.ts';
import { deliverCommands } from './commands/deliver.ts';
import { moveMark } from './number-mark.ts';

type Working = Pick<Deps, 'starter' | 'workflows' | 'store' | 'logger' | 'views' | 'stopping' | 'objects' | 'damaged'>;

/** Resolves when the process ends. */
export async function runDeferredWork(deps: Working): Promise<void> {
  let mark: number | null = null;
  while (!deps.stopping.aborted) {
    await workOnce(deps);
    mark = await moveMark(deps, mark).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the mark of the numbers could not be moved now');
      return mark;
    });
    await sleep(everyMs, undefined, { signal: deps.stopping, ref: false }).catch(() => undefined);
  }
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
