// The counts of a part of a test run, and their sum.
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Each failed test or check with the first lines of the reason: repeated at the end of the run. */
  failures: string[];
}

export const none: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };

export const sum = (parts: readonly Counts[]): Counts =>
  parts.reduce(
    (total, counts) => ({
      passed: total.passed + counts.passed,
      failed: total.failed + counts.failed,
      skipped: total.skipped + counts.skipped,
      failures: [...total.failures, ...counts.failures],
    }),
    none,
  );

/** The last line of every run. */
export const line = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** The counts of the last such line of a text; null when there is none. */
export function parseLine(text: string): Counts | null {
  const found = [...text.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  if (found === undefined) return null;
  const [passed = 0, failed = 0, skipped = 0] = found.slice(1).map(Number);
  return { passed, failed, skipped, failures: [] };
}
