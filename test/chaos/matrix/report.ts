// The results of a run of the kill matrix, as numbers and as lines for readers.
import { boundaryName, killModes } from './faults.ts';
import type { Bed } from './bed.ts';
import type { Boundary } from './faults.ts';
import type { Life, Scenario } from './life.ts';
import type { MatrixOptions } from './matrix.ts';
import type { Nemesis } from './nemesis.ts';
import { resetWorkflows } from './records.ts';

export interface Report {
  provider: MatrixOptions['provider'];
  seed: number;
  tookSeconds: number;
  lives: number;
  boundaries: number;
  planned: number;
  injected: Record<string, number>;
  /** SIGKILLs that really ended a process. */
  kills: { worker: number; api: number; server: number; agent: number };
  /** The faults that the cloud really injected, by call. */
  cloud: Record<string, number>;
  /** Instances in the cloud's ledger. */
  launched: number;
  /** Planned, tried twice, and never happened. */
  notInjected: string[];
  /** Did not happen at the first try, and the time was up before the second. */
  notTriedAgain: string[];
  violations: string[];
  /** Workflows that were stuck by a known fault of the SDK and were reset: once for each reset. */
  resets: string[];
  /** From a worker's kill to the next answered message of the workflow whose activity it ran. */
  messageMs: Quantiles;
  /** The same, without kills close to another kill. */
  messageAloneMs: Quantiles;
  /** From the fault to the end of the next attempt of the same activity. */
  activityMs: Quantiles;
}

interface Quantiles {
  runs: number;
  p50: number;
  p95: number;
  max: number;
}

export async function summarize(run: {
  bed: Bed;
  nemesis: Nemesis;
  lived: Life[];
  golden: Life[];
  boundaries: Map<Scenario, Boundary[]>;
  missed: string[];
  rest: string[];
  options: MatrixOptions;
  startedAtMs: number;
}): Promise<Report> {
  const { bed, nemesis, lived, golden, options } = run;
  const faults = lived.flatMap((life) => life.faults);
  const injected: Record<string, number> = {};
  const activityMs: number[] = [];
  for (const { id, mode } of faults) {
    const fired = bed.files.read('fired', id);
    if (fired === null) continue;
    injected[mode] = (injected[mode] ?? 0) + 1;
    const recovered = bed.files.read('recovered', id);
    if (recovered !== null && killModes.some((each) => each === mode)) activityMs.push(recovered.atMs - fired.atMs);
  }
  const { cloud } = bed.ground;
  const ledger = (await cloud?.ledger()) ?? [];
  return {
    provider: options.provider,
    seed: options.seed,
    tookSeconds: Math.round((Date.now() - run.startedAtMs) / 1000),
    lives: lived.length,
    boundaries: [...run.boundaries].flatMap(([name, own]) => own.map((each) => `${name} ${boundaryName(each)}`)).length,
    planned: faults.length,
    injected,
    kills: { ...nemesis.kills, agent: [...golden, ...lived].filter((life) => life.scenario === 'recover').length },
    cloud: (await cloud?.injected()) ?? {},
    launched: ledger.filter(({ event }) => event === 'launched').length,
    notInjected: run.missed,
    notTriedAgain: run.rest,
    violations: bed.violations,
    resets: resetWorkflows(bed.stack.home),
    messageMs: quantiles(nemesis.messages().all),
    messageAloneMs: quantiles(nemesis.messages().alone),
    activityMs: quantiles(activityMs),
  };
}

export function inWords(report: Report): string {
  const { kills, messageMs, messageAloneMs, activityMs } = report;
  const total = kills.worker + kills.api + kills.server + kills.agent;
  return [
    `kill matrix on ${report.provider}, SEED=${report.seed}: ${report.lives} lives, ${report.boundaries} boundaries, ${report.tookSeconds} s`,
    `${total} kills: ${kills.worker} of Temporal workers, ${kills.api} of the API, ${kills.server} of the Temporal server, ${kills.agent} of agents`,
    `${sum(report.injected)} of ${report.planned} planned faults injected: ${listed(report.injected)}`,
    ...(report.launched === 0
      ? []
      : [
          `the cloud launched ${report.launched} instances and was unkind ${sum(report.cloud)} times: ${listed(report.cloud)}`,
        ]),
    `after a worker's kill, messages: p50 ${messageMs.p50} ms, p95 ${messageMs.p95} ms, max ${messageMs.max} ms (${messageMs.runs})`,
    `where no other kill was near: p50 ${messageAloneMs.p50} ms, p95 ${messageAloneMs.p95} ms, max ${messageAloneMs.max} ms (${messageAloneMs.runs})`,
    `its activity: p50 ${activityMs.p50} ms, p95 ${activityMs.p95} ms, max ${activityMs.max} ms (${activityMs.runs})`,
    `${report.notInjected.length} not injected, ${report.violations.length} violations, ${report.resets.length} automatic resets`,
    ...report.notInjected.map((text) => `not injected: ${text}`),
    ...report.notTriedAgain.map((text) => `not injected, and no time to try again: ${text}`),
    ...report.violations.map((text) => `violation: ${text}`),
    ...report.resets.map((text) => `reset: ${text}`),
  ].join('\n');
}

const listed = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, count) => all + count, 0);

function quantiles(values: number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { runs: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
