// The kill matrix. First an undisturbed run, whose histories list the boundaries. Then lives in which each boundary is disturbed
// in each way, many at once on one stack, in a seeded order, pass after pass until the time or the cells are used up. A planned
// fault that did not happen is tried once more and then fails the run.
import { createRandom, shuffled } from '../../support/random.ts';
import { makeBed } from './bed.ts';
import type { Bed, GroundName } from './bed.ts';
import { allCells, boundariesOf, cellName, cellOf, deal } from './cells.ts';
import type { Cell } from './cells.ts';
import { boundaryName } from './faults.ts';
import { judgeLedger } from './ledger.ts';
import { pendingOf } from './pending.ts';
import { isOfACluster } from './life.ts';
import { scenarios } from './lives.ts';
import type { Life, Scenario } from './life.ts';
import { startNemesis } from './nemesis.ts';
import { summarize } from './report.ts';
import type { Report } from './report.ts';

export interface MatrixOptions {
  provider: GroundName;
  /** All unless given. */
  scenarios?: readonly Scenario[];
  seed: number;
  /** No new life begins after this. */
  minutes: number;
  /** Concurrent lives. */
  atOnce: number;
  /** Temporal workers. */
  workers: number;
  /** The number of cells, at least one of each activity and each mode; unless given, all cells, pass after pass. */
  sample?: number;
  /** Only cells of these names. */
  only?: readonly string[];
  /** In one life; with fewer, there are more lives, and each is shorter. */
  faultsInALife?: number;
  /** No new life begins after this either. */
  stopping?: AbortSignal;
  say: (line: string) => void;
}

export const allScenarios = ['grow', 'stop', 'recover', 'dask', 'sweep', 'stuck-workflows'] as const;

export async function runMatrix(options: MatrixOptions): Promise<Report> {
  const startedAtMs = Date.now();
  const random = createRandom(options.seed);
  const { scenarios: names = allScenarios, only, faultsInALife = 4 } = options;
  const isWanted = (cell: Cell): boolean => only?.includes(cellName(cell)) ?? true;
  const bed = await makeBed(options.provider, options.workers);
  const { cloud } = bed.ground;
  const nemesis = startNemesis(bed);
  try {
    const golden = [0, 1].flatMap((round) => names.map((name) => goldenLife(name, round)));
    await liveAll(bed, golden, Math.max(options.atOnce, 5), () => true, options.say);
    const boundaries = await boundariesOf(bed, golden);
    for (const [name, own] of boundaries) options.say(`${name}: ${own.map(boundaryName).join(', ')}`);

    const deadlineMs = startedAtMs + options.minutes * 60_000;
    const isTime = (): boolean => Date.now() < deadlineMs && options.stopping?.aborted !== true;
    const clearUp = cloud?.beUnkind(random);
    const lived: Life[] = [];
    let again: Cell[] = [];
    const missed: string[] = [];
    let pass = 0;
    for (; isTime() && (options.sample === undefined || pass === 0 || again.length > 0); pass += 1) {
      const isRepeat = again.length > 0;
      const all = isRepeat ? again : onlySample(allCells(boundaries, random, isWanted), random, options.sample);
      const lives = deal(all, random, faultsInALife, (index) => `p${pass}-${index}`);
      for (const life of lives) nemesis.watch(life);
      const done = await liveAll(bed, lives, options.atOnce, isTime, options.say);
      lived.push(...done);
      const notInjected = done.flatMap((life) =>
        life.faults.filter((fault) => bed.files.read('fired', fault.id) === null).map((fault) => cellOf(life, fault)),
      );
      if (isRepeat) missed.push(...notInjected.map(cellName));
      again = isRepeat ? [] : notInjected;
    }
    await nemesis.stop();
    await clearUp?.();
    await leftovers(bed, [...golden, ...lived]);
    const rest = again.map(cellName);
    return await summarize({ bed, nemesis, lived, golden, boundaries, missed, rest, options, startedAtMs });
  } finally {
    await nemesis.stop();
    await bed.close();
  }
}

const goldenLife = (scenario: Scenario, round: number): Life => ({
  id: `golden-${scenario}-${round}`,
  scenario,
  faults: [],
  key: '',
  isStopped: false,
  isUnderWay: false,
});

/** Runs at most `atOnce` lives concurrently; returns only those that ended in time. */
async function liveAll(
  bed: Bed,
  lives: Life[],
  atOnce: number,
  isTime: () => boolean,
  say: (line: string) => void,
): Promise<Life[]> {
  const waiting = [...lives];
  const done: Life[] = [];
  // A sweep ends all orphans: a second concurrent one would find none.
  let isSweeping = false;
  const next = (): Life | null => {
    const at = waiting.findIndex(({ scenario }) => scenario !== 'sweep' || !isSweeping);
    const [life = null] = at < 0 ? [] : waiting.splice(at, 1);
    if (life?.scenario === 'sweep') isSweeping = true;
    return life;
  };
  const lane = async (): Promise<void> => {
    for (let life = next(); life !== null && isTime(); life = next()) {
      const what = `${life.scenario} ${life.id} [${life.faults.map((fault) => `${boundaryName(fault)} ${fault.mode}`).join(', ')}]`;
      const startedAtMs = Date.now();
      life.isUnderWay = true;
      try {
        await scenarios[life.scenario](bed, life);
        say(`ok ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s ${what}`);
      } catch (error) {
        const text = `${what}, number ${life.key}: ${error instanceof Error ? error.message : String(error)}`;
        const waits = await pendingOf(bed, life);
        say(`VIOLATION ${text}\n${waits}`);
        bed.violations.push(text);
      }
      life.isUnderWay = false;
      if (life.scenario === 'sweep') isSweeping = false;
      done.push(life);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return done;
}

/** At rest no ended cluster has live instances, by the process table and by the cloud's ledger; a failed life may still be open. */
async function leftovers(bed: Bed, lives: Life[]): Promise<void> {
  const open = new Set<number>();
  for (const life of lives.filter(({ scenario, key }) => isOfACluster(scenario) && key !== '')) {
    const number = Number(life.key);
    const view = await bed.client.clusters.get(number).catch(() => null);
    if (view !== null && view.endedAt === null) open.add(number);
    const left = view?.endedAt === null ? [] : await bed.oracle.living(number);
    if (left.length > 0) bed.violations.push(`at rest, of cluster ${life.key}: ${JSON.stringify(left)}`);
  }
  const { cloud } = bed.ground;
  if (cloud === null) return;
  const { deploymentId, asked } = bed;
  bed.violations.push(...judgeLedger(await cloud.ledger(), { deploymentId, asked, open, keys: cloud.tags }));
  for (const { id, cluster, ...of } of await cloud.existing()) {
    if (of.deploymentId === deploymentId && !open.has(Number(cluster)))
      bed.violations.push(`${id} of cluster ${cluster} is left`);
  }
}

/** First the cells with a new activity and a new mode, then those with one of them, then the others. */
function onlySample(cells: Cell[], random: () => number, sample: number | undefined): Cell[] {
  if (sample === undefined) return cells;
  const known = new Set<string>();
  const chosen: Cell[] = [];
  let others = shuffled(cells, random);
  let needed = 0;
  for (const unseen of [2, 1, 0]) {
    needed = chosen.length;
    others = others.filter((cell) => {
      const fresh = [cell.mode, cell.boundary.activity].filter((name) => !known.has(name));
      if (fresh.length < unseen) return true;
      for (const name of fresh) known.add(name);
      chosen.push(cell);
      return false;
    });
  }
  return chosen.slice(0, Math.max(sample, needed));
}
