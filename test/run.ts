// `npm test`: the checks, then the test projects, one after the other. Prints what each came to, and at the very end one
// line over everything. Exit code 1 when anything failed, or when nothing ran.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import { fuzzSeed } from './support/fuzz-options.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Each failed test, or check, with the first lines of why: repeated at the end, because that is what is seen of a long run. */
  failures: string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (name: string): string => join(root, 'node_modules', '.bin', name);

const report = z.object({
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
type Report = z.infer<typeof report>;

async function main(): Promise<void> {
  console.log(`random worlds from seed ${fuzzSeed(process.env)}; ROPEWALK_FUZZ_SEED chooses others`);
  const parts: [name: string, run: () => Promise<Counts>][] = [
    ['format', () => check('oxfmt', ['--check'])],
    ['lint', () => check('oxlint', [])],
    ['types', () => check('tsc', ['--noEmit'])],
    ['unit', () => vitest('unit', [])],
    ['integration', () => vitest('integration', [])],
    // The sample: one seed of the crash tests, and a minute of the kill matrix. `npm run chaos` runs the whole project, with
    // a sample of the matrix on EC2, and `npm run test:chaos` the whole matrix.
    ['chaos-sample', () => vitest('chaos', ['test/chaos/crash', 'test/chaos/matrix.test', 'test/chaos/matrix-ledger'])],
  ];
  const results: [string, Counts][] = [];
  for (const [name, run] of parts) {
    console.log(`\n== ${name}`);
    const counts = await run();
    results.push([name, counts]);
    console.log(`== ${name}: ${line(counts)}`);
  }
  const total = results.reduce<Counts>(
    (sum, [, counts]) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
      failures: [...sum.failures, ...counts.failures],
    }),
    { passed: 0, failed: 0, skipped: 0, failures: [] },
  );
  console.log('');
  for (const failure of total.failures) console.log(`FAILED ${failure}\n`);
  for (const [name, counts] of results) console.log(`${name.padEnd(14)} ${line(counts)}`);
  console.log(line(total));
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

const line = ({ passed, failed, skipped }: Counts): string => `${passed} passed, ${failed} failed, ${skipped} skipped`;

async function check(name: string, args: string[]): Promise<Counts> {
  const code = await run(name, args);
  const failures = code === 0 ? [] : [`${[name, ...args].join(' ')}: exit code ${code}`];
  return { passed: 1 - failures.length, failed: failures.length, skipped: 0, failures };
}

/** A run that broke down before or after its tests counts as one more failure: it must not look like a success. */
async function vitest(project: string, filters: string[]): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'ropewalk-test-'));
  const outputFile = join(folder, 'report.json');
  const args = ['run', '--project', project, '--passWithNoTests', '--reporter=default', '--reporter=json'];
  try {
    const code = await run('vitest', [...args, `--outputFile.json=${outputFile}`, ...filters]);
    const found = report.parse(JSON.parse(await readFile(outputFile, 'utf8')));
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
function failuresOf({ name, message, status, assertionResults }: Report['testResults'][number]): string[] {
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

function run(name: string, args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(tool(name), args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', (error) => {
      console.error(`cannot run ${name}: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

await main();
