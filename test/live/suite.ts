// The live suite: the provider's operations on a real account, verified on the account itself. It checks the launch permission,
// reads the offers, launches one small instance, finds it by its tags and ends it. Whatever happens, no resource with the tags of
// this run remains. Against an emulated cloud it is a test of itself.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Owner } from '../../domain/owner.ts';
import type { LaunchOutcome, LaunchRequest, Placement, Provider } from '../../providers/provider.ts';
import type { LiveCloud } from './clouds.ts';

export interface LiveInput {
  cloud: LiveCloud;
  /** A deployment of its own, in the tags or labels of every resource of this run. */
  deploymentId: string;
  say: (line: string) => void;
  signal: AbortSignal;
  /** For how long the cloud may hide a launched instance. */
  unseenMs?: number;
}

const launchTries = 5;
const runningWithinMs = 5 * 60_000;
const endWithinMs = 10 * 60_000;
const checkEveryMs = 1_000;
const defaultUnseenMs = 120_000;

/** Rejects with the failed checks, after the cleanup. */
export async function runLive(input: LiveInput): Promise<void> {
  const { cloud, deploymentId, say, signal, unseenMs = defaultUnseenMs } = input;
  const provider = cloud.provider(unseenMs);
  const owner: Owner = { deploymentId, workspace: 'live', cluster: 1 };
  say(`${await cloud.account()}; everything of this run is ${cloud.mark(deploymentId)}`);
  // The cloud may not list a new instance yet: after a launch, an empty list does not prove that nothing remains.
  let mayBeUnseen = false;
  try {
    const verdicts = await cloud.verdicts(launchRequest(cloud, { ...owner, cluster: 2 }));
    for (const [call, verdict] of Object.entries(verdicts)) say(`dry run of ${call}: ${verdict}`);
    const all = Object.values(verdicts);
    if (all.length > 0 && !all.includes('permitted')) throw new Error('Neither way of launching is permitted.');

    const prices = (await provider.offers({})).filter(({ type }) => type === cloud.type);
    if (prices.length === 0) throw new Error(`${cloud.type} is not on offer in the zones of the settings.`);
    for (const { zone, market, pricePerHour } of prices)
      say(`${cloud.type} in ${zone}, ${market}: ${pricePerHour} USD/h`);

    const request = launchRequest(cloud, owner);
    mayBeUnseen = true;
    const id = onlyOf(await launch(provider, request));
    say(`launched ${id}`);
    const again = onlyOf(await launch(provider, request));
    if (again !== id) throw new Error(`The same launch, asked for again, made another instance: ${again}.`);
    say('the same launch asked for again is the same instance');

    await until(signal, runningWithinMs, `${id} to run`, async () =>
      (await provider.describe(owner, [])).some((seen) => seen.id === id && seen.state === 'running'),
    );
    const listed = (await provider.list(deploymentId)).map((seen) => seen.id);
    if (listed.length !== 1 || listed[0] !== id) throw new Error(`The deployment has ${listed.join(', ')}.`);
    mayBeUnseen = false;
    say(`${id} runs, and is the only one of its deployment`);

    await provider.terminate(owner, [id], AbortSignal.any([signal, AbortSignal.timeout(endWithinMs)]));
    say(`${id} is terminated`);
  } finally {
    await cleanUp(provider, deploymentId, say, mayBeUnseen ? unseenMs : 0);
  }
}

/** Ends all resources with the tags of this deployment; searches for at least `unseenMs`. */
export async function cleanUp(
  provider: Pick<Provider, 'list' | 'terminate' | 'listResources' | 'deleteResources'>,
  deploymentId: string,
  say: (line: string) => void,
  unseenMs: number,
): Promise<void> {
  const startedMs = performance.now();
  const signal = AbortSignal.timeout(endWithinMs + unseenMs);
  for (;;) {
    const left = await provider.list(deploymentId);
    for (const { id, owner } of left) {
      say(`ending ${id}`);
      await provider.terminate(owner, [id], signal);
    }
    const resources = await provider.listResources(deploymentId);
    for (const { id, owner, kind } of resources) {
      say(`deleting ${kind} ${id}`);
      await provider.deleteResources(owner, [id], signal);
    }
    if (left.length + resources.length === 0 && performance.now() - startedMs >= unseenMs) break;
    await sleep(checkEveryMs, undefined, { signal });
  }
  say(`nothing with the tags of ${deploymentId} is left`);
}

function launchRequest({ type, diskGib }: LiveCloud, owner: Owner): LaunchRequest {
  const placement: Placement = {
    types: [type],
    architecture: 'x86_64',
    market: 'on-demand',
    zones: [],
    diskGib,
  };
  return {
    owner,
    clusterName: 'ropewalk-live',
    token: `${owner.deploymentId}/${owner.workspace}/${owner.cluster}/1`,
    slots: [{ slot: 1, generation: 1, role: 'worker' }],
    placement: { head: placement, worker: placement, oneZone: true },
    // There is no control plane behind it: its agent cannot be fetched, and it would power itself off.
    apiUrl: 'https://ropewalk.invalid',
    launchToken: 'of no use',
  };
}

/** As in an activity: while the outcome is unknown, the same launch again. */
async function launch(provider: Provider, request: LaunchRequest): Promise<LaunchOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await provider.launch(request);
    } catch (error) {
      if (tries === launchTries) throw error;
      await sleep(checkEveryMs);
    }
  }
}

function onlyOf({ launched, failures }: LaunchOutcome): string {
  const [only] = launched;
  if (only !== undefined) return only.id;
  throw new Error(`Nothing was launched: ${failures.map(({ code, text }) => `${code}: ${text}`).join(' ')}`);
}

async function until(
  signal: AbortSignal,
  withinMs: number,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  signal.throwIfAborted();
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited ${withinMs / 1_000} s for ${what}.`);
    await sleep(checkEveryMs, undefined, { signal });
  }
}
