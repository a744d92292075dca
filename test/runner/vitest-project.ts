// Runs one project of vitest.config.ts and counts its tests from Vitest's JSON report.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { z } from 'zod';

import type { Counts } from './counts.ts';
import { root, runProgram, tool } from './run-program.ts';

const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number().default(0),
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().default(''),
      status: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});
type VitestReport = z.infer<typeof vitestReport>;

export interface ProjectOptions {
  /** Beginnings of the paths of the files that run; none: all of the project. */
  filters?: readonly string[];
  env?: Record<string, string>;
}

/** A run that fails before or after its tests counts as one more failure, and not as a success. */
export async function runVitestProject(
  project: string,
  { filters = [], env = {} }: ProjectOptions = {},
): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'ropewalk-test-'));
  const outputFile = join(folder, 'report.json');
  const args = ['run', '--project', project, '--passWithNoTests', '--reporter=default', '--reporter=json'];
  try {
    const { code } = await runProgram(tool('vitest'), [...args, `--outputFile.json=${outputFile}`, ...filters], {
      env,
    });
    const found = vitestReport.parse(JSON.parse(await readFile(outputFile, 'utf8')));
    const isUnexplained = (code !== 0 || !found.success) && found.numFailedTests === 0;
    const failures = found.testResults.flatMap(failuresOf);
    if (isUnexplained && failures.length === 0) failures.push(`project ${project}: exit code ${code}, no test failed`);
    return {
      passed: found.numPassedTests,
      failed: found.numFailedTests + (isUnexplained ? 1 : 0),
      skipped: found.numPendingTests + found.numTodoTests,
      failures,
    };
  } catch (error) {
    console.error(`no report of project ${project}:`, error);
    return { passed: 0, failed: 1, skipped: 0, failures: [`project ${project}: no report (${String(error)})`] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file can fail without any of its tests: when it cannot be loaded, or in a hook. */
function failuresOf({ name, message, status, assertionResults }: VitestReport['testResults'][number]): string[] {
  const file = relative(root, name);
  const tests = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => `${file} > ${test.fullName}\n${firstLines(test.failureMessages?.join('\n') ?? '')}`);
  return tests.length === 0 && status === 'failed' ? [`${file}\n${firstLines(message)}`] : tests;
}

const firstLines = (text: string): string =>
  text
    .split('\n')
    .filter((each) => !/^\s+at .*node_modules/.test(each))
    .slice(0, 12)
    .map((each) => `    ${each.slice(0, 400)}`)
    .join('\n');
