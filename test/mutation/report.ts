// Reads StrykerJS's JSON report and sums it up by folder of domain/.
import { dirname } from 'node:path';

import { z } from 'zod';

/** The parts that are used of https://github.com/stryker-mutator/mutation-testing-elements, report schema 2. */
export const mutationReport = z.object({
  files: z.record(
    z.string(),
    z.object({
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({ start: z.object({ line: z.number() }) }),
        }),
      ),
    }),
  ),
});
export type MutationReport = z.infer<typeof mutationReport>;

export interface FolderScore {
  folder: string;
  /** Mutants that a test detected, by a failure or by a timeout. */
  noticed: number;
  total: number;
  /** `file:line mutator -> replacement` of each that no test detected. */
  survivors: string[];
}

export function scoresByFolder(report: MutationReport): FolderScore[] {
  const scores = new Map<string, FolderScore>();
  for (const [file, { mutants }] of Object.entries(report.files)) {
    const folder = dirname(file);
    const score = scores.get(folder) ?? { folder, noticed: 0, total: 0, survivors: [] };
    scores.set(folder, score);
    for (const mutant of mutants) {
      const isNoticed = mutant.status === 'Killed' || mutant.status === 'Timeout';
      // The rest was ignored on purpose, or is no valid program.
      if (!isNoticed && mutant.status !== 'Survived' && mutant.status !== 'NoCoverage') continue;
      score.total += 1;
      if (isNoticed) score.noticed += 1;
      else score.survivors.push(describe(file, mutant));
    }
  }
  return [...scores.values()].filter(({ total }) => total > 0).toSorted((a, b) => a.folder.localeCompare(b.folder));
}

/** In percent, 0 to 100. */
export const percent = ({ noticed, total }: FolderScore): number => (100 * noticed) / total;

function describe(
  file: string,
  { mutatorName, replacement = '', location }: MutationReport['files'][string]['mutants'][number],
): string {
  const text = replacement.replaceAll(/\s+/g, ' ').slice(0, 80);
  return `${file}:${location.start.line} ${mutatorName} -> ${text}`;
}
