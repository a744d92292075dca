// The cells of the matrix: every boundary of the undisturbed run with every disturbance, dealt out to lives in a seeded order. A
// new activity is covered from its first day, because the boundaries are read from real histories.
import { shuffled } from '../../support/random.ts';
import type { Bed } from './bed.ts';
import { boundaryName, killModes, pausedModes, softModes } from './faults.ts';
import type { Boundary, Fault, Mode } from './faults.ts';
import { isOfACluster } from './life.ts';
import type { Life, Scenario } from './life.ts';
import { sweepRunId } from './upkeep.ts';

export interface Cell {
  scenario: Scenario;
  boundary: Boundary;
  mode: Mode;
}

/** The boundaries that both of two undisturbed lives had: a fault at a boundary that depends on timing might never happen. */
export async function boundariesOf(bed: Bed, lives: Life[]): Promise<Map<Scenario, Boundary[]>> {
  const found = new Map<Scenario, Boundary[]>();
  for (const life of lives) {
    const own = await readBoundaries(bed, life.key);
    const names = new Set(own.map(boundaryName));
    found.set(life.scenario, found.get(life.scenario)?.filter((each) => names.has(boundaryName(each))) ?? own);
  }
  return found;
}

/** One pass over all wanted cells: all kills and failures at each boundary, and a few losses of API and Temporal server. */
export function allCells(
  boundaries: Map<Scenario, Boundary[]>,
  random: () => number,
  isWanted: (cell: Cell) => boolean,
): Cell[] {
  const cells: Cell[] = [];
  const rare: Cell[] = [];
  for (const [scenario, own] of boundaries) {
    for (const boundary of own) {
      for (const mode of [...killModes, ...softModes]) cells.push({ scenario, boundary, mode });
      if (isOfACluster(scenario)) cells.push({ scenario, boundary, mode: 'stop' });
      rare.push({ scenario, boundary, mode: 'api' }, { scenario, boundary, mode: 'server' });
    }
  }
  // Each of these stops all lives for seconds: each pass includes some, all passes together include all.
  return [...cells.filter(isWanted), ...shuffled(rare.filter(isWanted), random).slice(0, 6)];
}

/**
 * Gives each life a few cells of its scenario, because lives end within minutes only when few of their steps are disturbed; at
 * most one cell per boundary. A stop has a life of its own, because no step follows it.
 */
export function deal(
  cells: readonly Cell[],
  random: () => number,
  inALife: number,
  name: (index: number) => string,
): Life[] {
  const lives: Life[] = [];
  for (const cell of shuffled(cells, random)) {
    const { scenario, boundary, mode } = cell;
    const open = lives.find(
      (life) => life.scenario === scenario && life.faults.length < inALife && hasRoom(life, boundary, mode),
    );
    const life = open ?? { id: name(lives.length), scenario, faults: [], key: '', isStopped: false, isUnderWay: false };
    if (open === undefined) lives.push(life);
    life.faults.push({ ...boundary, mode, id: `${life.id}.${life.faults.length}` });
  }
  return shuffled(lives, random);
}

export const cellOf = (life: Life, fault: Fault): Cell => {
  const { kind, activity, nth, mode } = fault;
  return { scenario: life.scenario, boundary: { kind, activity, nth }, mode };
};

export const cellName = ({ scenario, boundary, mode }: Cell): string => `${scenario} ${boundaryName(boundary)} ${mode}`;

const isPaused = (mode: Mode): boolean => pausedModes.some((each) => each === mode);

function hasRoom(life: Life, boundary: Boundary, mode: Mode): boolean {
  if (mode === 'stop' || life.faults.some((fault) => fault.mode === 'stop')) return false;
  if (isPaused(mode) && life.faults.some((fault) => isPaused(fault.mode))) return false;
  const name = boundaryName(boundary);
  return !life.faults.some((fault) => boundaryName(fault) === name);
}

/** How often instances are inspected depends on when each suspicion arrives: only the first inspection happens in every run. */
async function readBoundaries(bed: Bed, key: string): Promise<Boundary[]> {
  const boundaries = new Map<string, Boundary>();
  for (const kind of ['job', 'cluster', 'stuck-workflows'] as const) await read(kind, `${kind}/${key}`);
  // A life sweeps until its orphan is terminated: the activities of all these sweeps are boundaries.
  for (let run = 1; (await read('sweep', sweepRunId(key, run))) > 0; run += 1);
  return [...boundaries.values()];

  async function read(kind: Boundary['kind'], workflowId: string): Promise<number> {
    const counts = new Map<string, number>();
    const activities = await activitiesOf(bed, workflowId);
    for (const activity of activities) {
      const nth = (counts.get(activity) ?? 0) + 1;
      counts.set(activity, nth);
      if (nth > 1 && ofInspections.has(activity)) continue;
      const boundary = { kind, activity, nth };
      boundaries.set(boundaryName(boundary), boundary);
    }
    return activities.length;
  }
}

/** Each inspection calls the provider and reads the last reports from the database. */
const ofInspections = new Set(['inspectInstances', 'readHeard']);

async function activitiesOf(bed: Bed, workflowId: string): Promise<string[]> {
  const history = await bed.temporal.workflow
    .getHandle(workflowId)
    .fetchHistory()
    .catch(() => null);
  return (history?.events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
}
