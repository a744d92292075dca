// A sample of the kill matrix on each emulated cloud: the Temporal worker killed before or after the effect of every activity
// that calls the cloud, and the API and the Temporal server during a launch and a termination, while the cloud loses answers,
// throttles and shows new instances late. Judged by the cloud's own ledger.
import { describe, expect, it } from 'vitest';

import { clouds } from '../support/clouds.ts';
import { runMatrix } from './matrix/matrix.ts';
import { inWords, type Report } from './matrix/report.ts';

const seed = Number(process.env['SEED'] ?? 20_261_121);

/** Every activity that changes the cloud, before or after its effect, and the list that a sweep starts from. */
const only = [
  'grow cluster.launchInstances#1 kill after',
  'grow cluster.launchInstances#2 kill before',
  'grow cluster.terminateInstances#1 kill after',
  'grow cluster.terminateInstances#2 kill before',
  'grow cluster.terminateRemains#1 kill after',
  'sweep sweep.listInstances#1 kill before',
  'sweep sweep.terminateInstances#1 kill after',
];
/** In runs of their own: each of these stops every life for seconds. */
const outages = [
  'grow cluster.launchInstances#1 api',
  'grow cluster.launchInstances#2 server',
  'grow cluster.terminateInstances#1 api',
];

describe.each(clouds)(`the kill matrix on $title, a sample (SEED=${seed})`, ({ name }) => {
  const run = async (only: readonly string[], scenarios: readonly ('grow' | 'sweep')[]): Promise<Report> => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const cells = { scenarios, only, sample: only.length, faultsInALife: 2 };
    const report = await runMatrix({ provider: name, ...cells, seed, minutes: 4, atOnce: 4, workers: 2, say });
    if (report.violations.length > 0) console.log(lines.join('\n'));
    console.log(inWords(report));
    expect(report.violations).toEqual([]);
    expect(report.notInjected).toEqual([]);
    expect(Object.values(report.cloud).reduce((all, count) => all + count, 0)).toBeGreaterThan(0);
    expect(report.launched).toBeGreaterThan(0);
    return report;
  };

  // A run whose faults did not happen proves nothing.
  it('leaves nothing in the cloud’s ledger, and never two instances in a slot', async () => {
    const { injected } = await run(only, ['grow', 'sweep']);
    expect(injected).toEqual({ 'kill before': 3, 'kill after': 4 });
  });

  it('nor when the API or the Temporal server is killed while instances are launched or terminated', async () => {
    const { injected, kills } = await run(outages, ['grow']);
    expect([injected, kills]).toMatchObject([
      { api: 2, server: 1 },
      { api: 2, server: 1 },
    ]);
  });
});
