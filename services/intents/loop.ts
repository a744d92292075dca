// Looks now and then whether something was written down to be told later. Every replica does: telling twice does no harm.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Deps } from '../context.ts';
import { deliverIntents } from './intents.ts';

export async function runIntentLoop(
  deps: Pick<Deps, 'workflows' | 'objects' | 'logger' | 'views' | 'stopping'>,
): Promise<void> {
  while (!deps.stopping.aborted) {
    await deliverIntents(deps).catch((error: unknown) =>
      deps.logger.error({ err: error }, 'what was written down while Temporal was away could not be told yet'),
    );
    await sleep(everyMs, undefined, { signal: deps.stopping, ref: false }).catch(() => undefined);
  }
}

/** One listing of an empty folder. */
const everyMs = 2_000;
