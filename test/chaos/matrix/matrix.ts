// The kill matrix: first an undisturbed run, whose histories say what boundaries there are; then lives in which each boundary is
// disturbed in each way, many at once on one stack, in a seeded order, pass after pass until the time or the cells are used
// up. A fault that was planned and did not happen is tried once more and then fails the run.
import { createRandom } from '../../support/random.ts';
import { makeBed } from './bed.ts';
import type { Bed } from './bed.ts';
import { allCells, boundariesOf, cellName, cellOf, deal } from './cells.ts';
import type { Cell } from './cells.ts';
import { boundaryName } from './faults.ts';
import { scenarios } from './lives.ts';
import type { Life, Scenario } from './lives.ts';
import { startNemesis } from './nemesis.ts';
import { summarize } from './report.ts';
import type { Report } from './report.ts';

export interface MatrixOptions {
  seed: number;
  /** No new life begins after this. */
  minutes: number;
  /** Lives at the same time. */
  atOnce: number;
  /** Temporal workers. */
  workers: number;
  /** Only so many cells, of each activity and each mode at least one; every cell, pass after pass, unless given. */
  sample?: number;
  say: (line: string) => void;
}

const names: Scenario[] = ['grow', 'stop', 'recover', 'dask', 'workspace'];

export async function runMatrix(options: MatrixOptions): Promise<Report> {
  const startedAtMs = Date.now();
  const random = createRandom(options.seed);
  const bed = await makeBed(options.workers);
  const nemesis = startNemesis(bed);
  try {
    const golden = [0, 1].flatMap((round) => names.map((name) => goldenLife(name, round)));
    await liveAll(bed, golden, Math.max(options.atOnce, 5), () => true, options.say);
    const boundaries = await boundariesOf(bed, golden);
    for (const [name, own] of boundaries) options.say(`${name}: ${own.map(boundaryName).join(', ')}`);

    const deadlineMs = startedAtMs + options.minutes * 60_000;
    const isTime = (): boolean => Date.now() < deadlineMs;
    const lived: Life[] = [];
    let again: Cell[] = [];
    const missed: string[] = [];
    let pass = 0;
    for (; isTime() && (options.sample === undefined || pass === 0 || again.length > 0); pass += 1) {
      const isRepeat = again.length > 0;
      const all = isRepeat ? again : onlySample(allCells(boundaries, random), options.sample);
      const lives = deal(all, random, (index) => `p${pass}-${index}`);
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
    await leftovers(bed, [...golden, ...lived]);
    const rest = again.map(cellName);
    return summarize({ bed, nemesis, lived, golden, boundaries, missed, rest, options, startedAtMs });
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

/** As many at once as asked for; those that the time did not suffice for are not among the answer. */
async function liveAll(
  bed: Bed,
  lives: Life[],
  atOnce: number,
  isTime: () => boolean,
  say: (line: string) => void,
): Promise<Life[]> {
  const waiting = [...lives];
  const done: Life[] = [];
  const lane = async (): Promise<void> => {
    for (let life = waiting.shift(); life !== undefined && isTime(); life = waiting.shift()) {
      const what = `${life.scenario} ${life.id} [${life.faults.map((fault) => `${boundaryName(fault)} ${fault.mode}`).join(', ')}]`;
      const startedAtMs = Date.now();
      life.isUnderWay = true;
      try {
        await scenarios[life.scenario](bed, life);
        say(`ok ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s ${what}`);
      } catch (error) {
        const text = `${what}, number ${life.key}: ${error instanceof Error ? error.message : String(error)}`;
        say(`VIOLATION ${text}`);
        bed.violations.push(text);
      }
      life.isUnderWay = false;
      done.push(life);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return done;
}

/** At rest nothing lives of any cluster that is over. One whose life failed may still be on its way. */
async function leftovers(bed: Bed, lives: Life[]): Promise<void> {
  for (const life of lives.filter((each) => each.scenario !== 'workspace' && each.key !== '')) {
    const over = (await bed.client.clusters.get(Number(life.key)).catch(() => null))?.endedAt ?? null;
    const left = over === null ? [] : await bed.oracle.living(Number(life.key));
    if (left.length > 0) bed.violations.push(`at rest, of cluster ${life.key}: ${JSON.stringify(left)}`);
  }
}

/** The first cells that bring something new come first, then the others. */
function onlySample(cells: Cell[], sample: number | undefined): Cell[] {
  if (sample === undefined) return cells;
  const known = new Set<string>();
  const isNews = ({ boundary, mode }: Cell): boolean => {
    const before = known.size;
    known.add(mode).add(boundary.activity);
    return known.size > before;
  };
  const [fresh, others]: [Cell[], Cell[]] = [[], []];
  for (const cell of cells) (isNews(cell) ? fresh : others).push(cell);
  return [...fresh, ...others].slice(0, sample);
}
