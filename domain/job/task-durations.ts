// Task durations in classes for a histogram.

export interface DurationClass {
  fromMs: number;
  /** The last class includes it. */
  toMs: number;
  count: number;
}

/** Classes of equal width; steps of 1, 2 and 5 of each power of ten where the longest is far longer than the shortest. */
export function durationClasses(shortest: number, longest: number): DurationClass[] {
  if (shortest > longest) return [];
  const edges =
    longest > maxLinearRatio * Math.max(shortest, 100) ? steps(shortest, longest) : widths(shortest, longest);
  return edges.slice(1).map((toMs, at) => ({ fromMs: edges[at] ?? 0, toMs, count: 0 }));
}

export function countDuration(classes: DurationClass[], ms: number): void {
  const own = classes.find(({ toMs }) => ms < toMs) ?? classes.at(-1);
  if (own !== undefined) own.count += 1;
}

const maxLinearRatio = 20;
const classesWanted = 20;

/** Multiples of a round width, from below the shortest to above the longest. */
function widths(shortest: number, longest: number): number[] {
  const width = Math.max(1, roundUp((longest - shortest) / classesWanted));
  const first = Math.floor(shortest / width);
  const last = Math.max(first + 1, Math.ceil((longest + 1) / width));
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * width);
}

function steps(shortest: number, longest: number): number[] {
  const edges = [shortest < 1 ? 0 : roundDown(shortest)];
  while ((edges.at(-1) ?? 0) <= longest) edges.push(roundUp((edges.at(-1) ?? 0) + 1));
  return edges;
}

const roundUp = (ms: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(ms, 1)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= ms) ?? 10 * power;
};

const roundDown = (ms: number): number => {
  const power = 10 ** Math.floor(Math.log10(ms));
  return [5, 2, 1].map((each) => each * power).find((each) => each <= ms) ?? power;
};
