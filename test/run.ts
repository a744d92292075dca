// `npm test`: the checks, then the test projects, one after the other. Prints what each came to, and at the very end one
// line over everything. Exit code 1 when anything failed, or when nothing ran.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import { fuzzSeed } from './support/fuzz-options.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (name: string): string => join(root, 'node_modules', '.bin', name);

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number().default(0),
  success: z.boolean(),
});

async function main(): Promise<void> {
  console.log(`random worlds from seed ${fuzzSeed(process.env)}; ROPEWALK_FUZZ_SEED chooses others`);
  const parts: [name: string, run: () => Promise<Counts>][] = [
    ['format', () => check('oxfmt', ['--check'])],
    ['lint', () => check('oxlint', [])],
    ['types', () => check('tsc', ['--noEmit'])],
    ['unit', () => vitest('unit', [])],
    ['integration', () => vitest('integration', [])],
    // The sample: one seed of the crash tests. `npm run chaos` runs the whole project.
    ['chaos-sample', () => vitest('chaos', ['test/chaos/crash'])],
  ];
  const results: [string, Counts][] = [];
  for (const [name, run] of parts) {
    console.log(`\n== ${name}`);
    const counts = await run();
    results.push([name, counts]);
    console.log(`== ${name}: ${line(counts)}`);
  }
  const total = results.reduce(
    (sum, [, counts]) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
  console.log('');
  for (const [name, counts] of results) console.log(`${name.padEnd(14)} ${line(counts)}`);
  console.log(line(total));
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

const line = ({ passed, failed, skipped }: Counts): string => `${passed} passed, ${failed} failed, ${skipped} skipped`;

async function check(name: string, args: string[]): Promise<Counts> {
  const code = await run(name, args);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
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
    return {
      passed: found.numPassedTests,
      failed: found.numFailedTests + (isUnexplained ? 1 : 0),
      skipped: found.numPendingTests + found.numTodoTests,
    };
  } catch (error) {
    console.error(`no report of project ${project}:`, error);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

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
