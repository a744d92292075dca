// `ropewalk destroy --by-tag`: the emergency stop. Ends every instance that carries a deployment's tag, by the provider
// alone: it needs no Temporal, no API and no Temporal worker, and asks none of them.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../domain/errors.ts';
import { groupByOwner } from '../domain/sweep/decide.ts';
import { createLocalProvider } from '../providers/local/provider.ts';
import type { ObservedInstance, Provider } from '../providers/provider.ts';
import { findHost } from './host.ts';
import { reporting, type Said } from './report.ts';

export interface DestroyOptions {
  home: string;
  /** The home's own when absent. */
  deployment?: string | undefined;
  dryRun: boolean;
  /** Without asking. */
  yes: boolean;
  format: 'table' | 'json';
  /** Shows the question and gives the line that was typed; null when there is nobody to ask. */
  ask: (question: string) => Promise<string | null>;
}

/** The exit code. */
export async function runDestroy(options: DestroyOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const deploymentId = await deploymentOf(options);
    const provider = providerOf(options.home);
    const found = await provider.list(deploymentId);
    if (options.format === 'table') printFound(deploymentId, found, said);
    if (found.length === 0 || options.dryRun) {
      if (options.format === 'json') said.json({ deploymentId, found, terminated: [] });
      return 0;
    }
    if (!options.yes) await confirm(deploymentId, found, options.ask);
    const terminated = await terminateAll(provider, deploymentId);
    if (options.format === 'json') said.json({ deploymentId, found, terminated });
    else said.out(`ended ${plural(terminated.length, 'instance')}`);
    return 0;
  });
}

async function deploymentOf({ home, deployment }: DestroyOptions): Promise<string> {
  const id = deployment ?? (await findHost(home))?.deploymentId;
  if (id !== undefined) return id;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `which deployment? ${home} has no host.json that would say`,
    hint: 'Name it with --deployment, or the right home with ROPEWALK_HOME.',
  });
}

/** Nothing is launched here. */
const providerOf = (home: string): Provider =>
  createLocalProvider({ home, agentBundle: '', nodePath: process.execPath, maxInstances: 0, cores: 1 });

function printFound(deploymentId: string, found: ObservedInstance[], said: Said): void {
  said.out(`deployment ${deploymentId}: ${plural(found.length, 'instance')}`);
  for (const { id, owner, state, launchedAtMs } of found) {
    const since = new Date(launchedAtMs).toISOString();
    said.out(`  ${id}  workspace ${owner.workspace}, cluster ${owner.cluster}, ${state}, since ${since}`);
  }
}

async function confirm(deploymentId: string, found: ObservedInstance[], ask: DestroyOptions['ask']): Promise<void> {
  const typed = await ask(
    `This ends ${plural(found.length, 'instance')} with all that runs there. Clusters that are still open start new ones,` +
      ` so stop the stack first.\nType the deployment's id to go on: `,
  );
  if (typed?.trim() === deploymentId) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message:
      typed === null ? 'nobody was there to confirm; nothing was ended' : 'that is not its id; nothing was ended',
    hint: `Type ${deploymentId} when asked, or add --yes.`,
  });
}

/** Until two looks in a row find nothing: an instance may have been on its way up during the first one. */
async function terminateAll(provider: Provider, deploymentId: string): Promise<string[]> {
  const ended = new Set<string>();
  const signal = AbortSignal.timeout(withinMs);
  for (let emptyLooks = 0; emptyLooks < 2; await sleep(betweenLooksMs)) {
    const found = await provider.list(deploymentId);
    emptyLooks = found.length === 0 ? emptyLooks + 1 : 0;
    await Promise.all(groupByOwner(found).map(({ owner, ids }) => provider.terminate(owner, ids, signal)));
    for (const { id } of found) ended.add(id);
  }
  return [...ended];
}

const withinMs = 10 * 60_000;
const betweenLooksMs = 200;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
