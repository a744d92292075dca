// `ropewalk destroy --by-tag`: the emergency stop. Terminates every instance and every cloud resource with a deployment's tag,
// using only the providers: no database, no Temporal, no API and no Temporal worker.
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { exists } from '../providers/local/files.ts';
import { type Configured, configuredProviders, manifests } from '../providers/manifests.ts';
import { type Ended, endAll, type Found, listAll, placesOf } from './end-all.ts';
import { findHost } from './host.ts';
import { plural } from './plural.ts';
import { reporting, type Said } from './report.ts';

export interface DestroyOptions {
  env: Record<string, string | undefined>;
  home: string;
  /** Default: the home's deployment. */
  deployment?: string | undefined;
  dryRun: boolean;
  /** Skips the question. */
  yes: boolean;
  format: 'table' | 'json';
  /** Shows the question and returns the typed line; null when standard input is closed. */
  ask: (question: string) => Promise<string | null>;
  /** Time limit of its retries; ten minutes by default. */
  withinMs?: number;
}

/** Returns the exit code: 1 also when something could not be listed or ended. */
export async function runDestroy(options: DestroyOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const deploymentId = await deploymentOf(options);
    const { env, home } = options;
    // Includes disabled providers, where earlier instances may exist.
    const configured = configuredProviders({ env, home, hostId: (await findHost(home))?.hostId ?? '' });
    const forgotten = await forgottenSettings(env, home);
    const places = (await Promise.all(configured.map(placesOf))).flat();
    const found = await Promise.all(places.map((place) => listAll(place, deploymentId)));
    const isTable = options.format === 'table';
    if (isTable) printFound(deploymentId, found, said);
    if (isTable) printSearched(configured, said);
    const ended: Ended[] = [];
    const some = found.filter(isToBeEnded);
    if (some.length > 0 && !options.dryRun) {
      if (!options.yes) await confirm(deploymentId, found, options.ask);
      const signal = AbortSignal.timeout(options.withinMs ?? usualWithinMs);
      ended.push(...(await Promise.all(some.map((place) => endAll(place, deploymentId, signal)))));
    }
    if (!isTable) printJson({ deploymentId, searched: configured.map(searchedIn), found, ended }, said);
    else if (ended.length > 0) printEnded(ended, said);
    const code = giveResult(deploymentId, found, ended);
    for (const line of forgotten) said.err(line);
    return forgotten.length > 0 ? 1 : code;
  });
}

/** The clouds with a settings file in the home that the environment does not name: they are not searched. */
async function forgottenSettings(env: DestroyOptions['env'], home: string): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, title, settingsVariable } of manifests) {
    const file = join(home, `${name}.json`);
    if (settingsVariable === null || env[settingsVariable] || !(await exists(file))) continue;
    lines.push(`${title} was not searched, and ${file} exists: run this again with ${settingsVariable}=${file}`);
  }
  return lines;
}

const usualWithinMs = 10 * 60_000;

async function deploymentOf({ home, deployment }: DestroyOptions): Promise<string> {
  const id = deployment ?? (await findHost(home))?.deploymentId;
  if (id !== undefined) return id;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `the deployment is unknown: ${home} has no host.json`,
    hint: 'Name it with --deployment, or the right home with ROPEWALK_HOME.',
  });
}

/** A place whose list failed temporarily may still have resources. */
const isToBeEnded = ({ instances, resources, isPassing }: Found): boolean =>
  isPassing || instances.length + resources.length > 0;

function printFound(deploymentId: string, found: Found[], said: Said): void {
  said.out(`deployment ${deploymentId}: ${counted(found)}`);
  for (const { where: place, instances, resources, problem } of found) {
    const where = found.length === 1 ? '' : `${place}  `;
    for (const { id, owner, state, launchedAtMs } of instances) {
      const since = new Date(launchedAtMs).toISOString();
      said.out(`  ${where}${id}  workspace ${owner.workspace}, cluster ${owner.cluster}, ${state}, since ${since}`);
    }
    for (const { id, kind, owner } of resources) {
      said.out(`  ${where}${id}  workspace ${owner.workspace}, cluster ${owner.cluster}, ${kind}`);
    }
    if (problem !== null) said.err(`  ${place} could not list everything: ${problem}`);
  }
}

interface Searched {
  provider: string;
  /** Empty for this machine. */
  regions: string[];
  /** Projects, or roles in accounts. */
  accounts: string[];
}

const searchedIn = ({ manifest, provider }: Configured): Searched => ({
  provider: manifest.name,
  regions: provider.places.flatMap(({ region }) => region ?? []),
  accounts: [...new Set(provider.accounts.map(({ account }) => account))],
});

/** Also when nothing was found: a search in the wrong project finds nothing too. */
function printSearched(configured: readonly Configured[], said: Said): void {
  for (const { name, title, settingsVariable } of manifests) {
    const searched = configured.find(({ manifest }) => manifest.name === name);
    if (searched === undefined) {
      said.out(`  not searched: ${title}, because ${settingsVariable} is not set`);
      continue;
    }
    const { regions, accounts } = searchedIn(searched);
    const where = regions.length === 0 ? '' : `, ${regions.join(', ')}`;
    said.out(`  searched: ${title}${where}${accounts.length === 0 ? '' : ` (${accounts.join(', ')})`}`);
  }
}

function printEnded(ended: Ended[], said: Said): void {
  const terminated = ended.flatMap((each) => each.terminated).length;
  const removed = ended.flatMap((each) => each.removed).length;
  said.out(
    `ended ${plural(terminated, 'instance')}${removed === 0 ? '' : `, removed ${plural(removed, 'cloud resource')}`}`,
  );
}

function printJson(
  {
    deploymentId,
    searched,
    found,
    ended,
  }: { deploymentId: string; searched: Searched[]; found: Found[]; ended: Ended[] },
  said: Said,
): void {
  said.json({
    deploymentId,
    searched,
    found: found.flatMap(({ where, instances }) => instances.map((each) => ({ where, ...each }))),
    resources: found.flatMap(({ resources }) => resources),
    terminated: ended.flatMap(({ terminated }) => terminated),
    removed: ended.flatMap(({ removed }) => removed),
    remaining: ended.flatMap(({ remaining }) => remaining),
  });
}

function giveResult(deploymentId: string, found: Found[], ended: Ended[]): number {
  const left = ended.filter(({ remaining, problem }) => remaining.length > 0 || problem !== null);
  const isListed = ({ where, problem }: Found): boolean =>
    problem === null || ended.some((each) => each.where === where);
  if (left.length === 0) return found.every(isListed) ? 0 : 1;
  const what = left.flatMap(({ where, remaining, problem }) => {
    const named =
      remaining.length === 0 ? '' : `${plural(remaining.length, 'resource')} in ${where} (${first(remaining)})`;
    return [[named, problem ?? ''].filter((text) => text !== '').join(': ')];
  });
  throw new RopewalkError({
    code: 'UNAVAILABLE',
    message: `some resources remain: ${what.join('; ')}`,
    hint: `Run it again: it continues with what remains. In the cloud's console, the tag ropewalk:deployment, or the label ropewalk-deployment, = ${deploymentId} finds it.`,
  });
}

const first = (ids: string[]): string => `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', ...' : ''}`;

function notListed(found: Found[]): string {
  const places = found.filter(({ isPassing }) => isPassing).map(({ where }) => where);
  return places.length === 0 ? '' : `, and what is found in ${places.join(', ')} once it can be listed,`;
}

function counted(found: Found[]): string {
  const instances = found.reduce((sum, each) => sum + each.instances.length, 0);
  const resources = found.reduce((sum, each) => sum + each.resources.length, 0);
  return `${plural(instances, 'instance')}${resources === 0 ? '' : `, ${plural(resources, 'cloud resource')}`}`;
}

async function confirm(deploymentId: string, found: Found[], ask: DestroyOptions['ask']): Promise<void> {
  const typed = await ask(
    `This terminates ${counted(found)}${notListed(found)} and all that runs there. Open clusters launch new instances, so stop the` +
      ` stack first.\nType the deployment's id to continue: `,
  );
  if (typed?.trim() === deploymentId) return;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: typed === null ? 'not confirmed; nothing was terminated' : 'this is not its id; nothing was terminated',
    hint: `Type ${deploymentId} when asked, or add --yes.`,
  });
}
