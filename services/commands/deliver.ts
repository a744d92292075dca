// Delivers stored commands. A command whose workflow has not started yet stays for the next round.
import type { DeferredCommand } from '../../store/command-port.ts';
import type { Deps } from '../context.ts';
import { clusterRecordOfJob } from '../../views/cluster.ts';
import { isUnavailable } from '../unavailable.ts';
import { endUnstarted, isStillToStart, sendEnd } from './end.ts';

type Delivering = Pick<Deps, 'workflows' | 'store' | 'vault' | 'logger' | 'views' | 'now'>;

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
      // A failing command must not delay the others.
      deps.logger.error({ err: error, ...command }, 'a stored command could not be delivered');
    }
  }
}

const maxPerRound = 1_000;

/** True when its workflow is still going to start. */
async function isToCome(deps: Delivering, command: DeferredCommand): Promise<boolean> {
  const { kind, number, workspace } = command;
  const { store } = deps;
  const job = await store.jobs.find(workspace, number);
  const cluster =
    kind === 'cancel' ? null : ((await store.clusters.find(workspace, number)) ?? clusterRecordOfJob(job));
  const record = kind === 'cancel' ? job : cluster;
  if (record === null || !isStillToStart(record)) return false;
  return !(await endUnstarted(deps, command, record));
}
