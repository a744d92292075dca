// A sample of the kill matrix, with every activity and every disturbance at least once: kill -9 of the Temporal worker before,
// after and past the effect, effects twice, attempts failed, API and server killed. `npm run test:chaos` runs all of it.
import { describe, expect, it } from 'vitest';

import { killModes, pausedModes, softModes } from './matrix/faults.ts';
import { runMatrix } from './matrix/matrix.ts';
import { inWords } from './matrix/report.ts';

const seed = Number(process.env['SEED'] ?? 20_261_121);

describe(`the kill matrix, a sample (SEED=${seed})`, () => {
  it('leaves no instance, launches none twice, and reaches the requested outcome', async () => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const report = await runMatrix({
      provider: 'local',
      seed,
      minutes: 4,
      atOnce: 5,
      workers: 2,
      sample: 16,
      faultsInALife: 2,
      say,
    });
    if (report.violations.length > 0) console.log(lines.join('\n'));
    console.log(inWords(report));
    expect(report.violations).toEqual([]);
    expect(report.notInjected).toEqual([]);
    // A run whose faults did not happen proves nothing.
    expect(Object.keys(report.injected).toSorted()).toEqual([...killModes, ...softModes, ...pausedModes].toSorted());
    expect(report.kills.worker).toBeGreaterThanOrEqual(3);
  });
});
