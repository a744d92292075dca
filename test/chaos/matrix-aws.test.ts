// A sample of the kill matrix on emulated EC2: the Temporal worker killed before and after the effect of every activity that
// calls the cloud, while the cloud loses answers, throttles and shows new instances late. Judged by the cloud's own ledger.
import { describe, expect, it } from 'vitest';

import type { Cell } from './matrix/cells.ts';
import { runMatrix } from './matrix/matrix.ts';
import { inWords } from './matrix/report.ts';

const seed = Number(process.env['SEED'] ?? 20_261_121);

const callsTheCloud = ['launchInstances', 'terminateInstances', 'terminateRemains', 'listInstances'];
const kills = ['kill before', 'kill after'];
/** Of each activity the first of its kind that comes, in a life that has it anyway. */
const only = ({ scenario, boundary, mode }: Cell): boolean =>
  callsTheCloud.includes(boundary.activity) && kills.includes(mode) && ['grow', 'sweep'].includes(scenario);

describe(`the kill matrix on EC2, a sample (SEED=${seed})`, () => {
  it('leaves nothing in the cloud’s ledger, and never two instances in a slot', async () => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const scenarios = ['grow', 'sweep'] as const;
    const report = await runMatrix({
      provider: 'aws',
      scenarios,
      only,
      seed,
      minutes: 4,
      atOnce: 5,
      workers: 2,
      sample: 14,
      say,
    });
    if (report.violations.length > 0) console.log(lines.join('\n'));
    console.log(inWords(report));
    expect(report.violations).toEqual([]);
    expect(report.notInjected).toEqual([]);
    // A run whose faults did not happen proves nothing.
    expect(Object.keys(report.injected).toSorted()).toEqual(kills.toSorted());
    expect(Object.values(report.cloud).reduce((all, count) => all + count, 0)).toBeGreaterThan(0);
    expect(report.launched).toBeGreaterThan(0);
  });
});
