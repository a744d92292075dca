// Delivers stored commands. A command whose workflow is still to be started stays for the next round.
import type { DeferredCommand } from '../../store/store.ts';
import type { Deps } from '../context.ts';
import { clusterRecordOfJob } from '../../views/cluster.ts';
import { isUnavailable } from '../unavailable.ts';
import { isStillToStart, sendEnd } from './end.ts';

type Delivering = Pick<Deps, 'workflows' | 'store' | 'logger' | 'views'>;

/** Throws UNAVAILABLE when the database does not answer. */
export async function deliverCommands(deps: Delivering): Promise<void> {
  for (const command of await deps.store.commands.list(maxPerRound)) {
    const { number } = command;
    try {
      const sent = await sendEnd(deps, command);
      if (sent === 'missing' && (await isToCome(deps, command))) continue;
      await deps.store.commands.delete(command);
      deps.views.expire(number);
      deps.logger.info({ ...command, sent }, 'a stored command was delivered');
    } catch (error) {
      if (isUnavailable(error)) return;
      // The other commands do not wait for one that fails.
      deps.logger.error({ err: error, ...command }, 'a stored command could not be delivered');
    }
  }
}

const maxPerRound = 1_000;

async function isToCome({ store }: Delivering, { kind, number, workspace }: DeferredCommand): Promise<boolean> {
  const job = await store.jobs.find(workspace, number);
  if (kind === 'cancel') return job !== null && isStillToStart(job);
  const cluster = (await store.clusters.find(workspace, number)) ?? clusterRecordOfJob(job);
  return cluster !== null && isStillToStart(cluster);
}
