// The examples of the batch documentation without a container, unchanged, with the real command line and real agents: header,
// task ids, arrays, inputs, the head instance, all at once, time limits.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { runCli } from '../cli/run-cli.ts';
import { freePort } from '../support/free-port.ts';
import { startStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let place: string;
let env: Record<string, string>;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ropewalk-documents-'));
  stack = await startStack();
  env = { ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token };
});
afterAll(async () => {
  await stack.stop();
  await rm(place, { recursive: true });
});

/** `ropewalk batch run --wait WORDS`, without the environment of the Python on the PATH here; returns the sorted output of its tasks. */
async function run(...words: string[]): Promise<{ code: number | null; stderr: string; printed: string[] }> {
  const { code, stdout, stderr } = await runCli(['batch', 'run', '--wait', '--no-package-sync', ...words], {
    cwd: place,
    env,
  });
  const number = /^Job (\d+)/.exec(stdout)?.[1] ?? '';
  const logs = await runCli(['batch', 'logs', number, '--format', 'json'], { env });
  const lines = logs.stdout.split('\n').filter((line) => line !== '');
  return { code, stderr, printed: lines.map((line) => String(JSON.parse(line).text)).toSorted() };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('the Python script of the quickstart, with its header', async () => {
  const script = `# COILED n-tasks     10
# COILED memory      8 GiB
# COILED region      us-east-2

import os

print(f"Hello from {os.environ['COILED_BATCH_TASK_ID']}")
`;
  await writeFile(join(place, 'my_script.py'), script);
  expect(await run('my_script.py')).toMatchObject({ code: 0, printed: upTo(10).map((id) => `Hello from ${id}`) });
});

it('one task for each line of a file', async () => {
  const inputs = [1, 2].map((n) => `s3://my-bucket/file${n}.csv\ns3://my-bucket/sub dir/"file${n}" ü.csv\n`).join('');
  await writeFile(join(place, 'inputs.txt'), inputs);
  const script = `# COILED memory      8 GiB
# COILED region      us-east-2

import os, sys

assert sys.argv[1] == os.environ["COILED_BATCH_TASK_INPUT"]
print(sys.argv[1])
`;
  await writeFile(join(place, 'process.py'), script);
  const { code, printed } = await run('--map-over-file', 'inputs.txt', 'process.py', '$COILED_BATCH_TASK_INPUT');
  expect([code, printed]).toEqual([0, inputs.trim().split('\n').toSorted()]);
});

it('one task for each line of a file that does not fit in a request, also when some tasks are run again', async () => {
  const lines = upTo(540).map((id) => `${id}:${'x'.repeat(30_000)}`);
  await writeFile(join(place, 'long.txt'), lines.join('\n'));
  const mended = join(place, 'long-mended');
  const show = 'n=${COILED_BATCH_TASK_INPUT%%:*}; echo $COILED_BATCH_TASK_ID $n ${#COILED_BATCH_TASK_INPUT}';
  const script = `${show}; test $n != 7 && test $n != 501 || test -e '${mended}'`;
  const first = await run('--map-over-file', 'long.txt', 'sh', '-c', script);
  expect(first.stderr).toContain('uploaded to the object store, and not sealed');
  expect(first.stderr).toContain('Failed task ids: 7, 501');
  const expected = lines.map((line, id) => `${id} ${id} ${line.length}`);
  expect([first.code, first.printed]).toEqual([1, expected.toSorted()]);
  const number = Number(/batch logs (\d+)/.exec(first.stderr)?.[1]);
  await writeFile(mended, '');
  const retried = await runCli(['batch', 'retry', String(number), '--failed', '--wait'], { env });
  expect(retried).toMatchObject({ code: 0, stdout: expect.stringContaining('done: 2 / 2 done') });
  const logs = await runCli(['batch', 'logs', String(number + 1), '--format', 'json'], { env });
  const printed = logs.stdout.split('\n').filter((line) => line !== '');
  expect(printed.map((line) => String(JSON.parse(line).text)).toSorted()).toEqual([expected[501], expected[7]]);
});

it('one task for each value', async () => {
  await writeFile(join(place, 'values.py'), 'import os\nprint(os.environ["WORD"])\n');
  const words = ['--map-over-values', 'first,second,third', '--map-over-input-var', 'WORD', 'values.py'];
  expect(await run(...words)).toMatchObject({ code: 0, printed: ['first', 'second', 'third'] });
});

it('the tasks of an array', async () => {
  const echo = ['echo', '$COILED_BATCH_TASK_ID'];
  expect((await run('--array', '2,4-6,8-10', ...echo)).printed).toEqual(['10', '2', '4', '5', '6', '8', '9']);
  expect((await run('--array', '0-10:2%2', ...echo)).printed).toEqual(['0', '10', '2', '4', '6', '8']);
});

it('all at once, with the addresses of all workers, and a head instance that runs the first task alone', async () => {
  const show = 'echo $COILED_BATCH_TASK_ID $COILED_BATCH_PROCESS_TYPE $COILED_BATCH_READY_WORKERS';
  const words = ['--ntasks', '3', '--max-workers', '2', '--wait-for-ready-cluster', '--task-on-scheduler'];
  const { code, printed } = await run(...words, 'bash', '-c', show);
  expect([code, printed]).toEqual([
    0,
    ['0 scheduler 127.0.0.1,127.0.0.1', ...['1 worker 127.0.0.1,127.0.0.1', '2 worker 127.0.0.1,127.0.0.1']],
  ]);
});

it('tasks that talk to each other, the first of them on the head instance', async () => {
  const port = await freePort();
  const script = join(import.meta.dirname, '../../examples/gang.py');
  const { code, printed } = await run('--env', `PORT=${port}`, script);
  expect([code, printed]).toEqual([0, ['task 0 of 3: 111', 'task 1 of 3: 111', 'task 2 of 3: 111']]);
});

it('a task that runs too long is ended, and its last lines are shown', async () => {
  const words = ['--task-timeout', '1 second', 'bash', '-c', 'echo too slow >&2; sleep 600'];
  const { code, stderr } = await run(...words);
  expect(code).toBe(1);
  expect(stderr).toContain('exit code 124: The task ran longer than its limit of 1 s and was ended.');
  expect(stderr).toContain('Failed task ids: 0\n(Task 0)   too slow');
  const timeout = await run('timeout', '1', 'sleep', '600');
  expect(timeout.stderr).toContain('exit code 124');
});

it('the tasks that failed are run again, with their ids, inputs and files, and no others', async () => {
  const script = `import os, sys
place, value = sys.argv[1], os.environ["COILED_BATCH_TASK_INPUT"]
print(os.environ["COILED_BATCH_TASK_ID"], "of", os.environ["COILED_BATCH_TASK_COUNT"], value)
sys.exit(value in ("b", "d") and not os.path.exists(place))
`;
  await writeFile(join(place, 'fails.py'), script);
  const mended = join(place, 'mended');
  const first = await run('--map-over-values', 'a,b,c,d', 'fails.py', mended);
  expect([first.code, first.printed]).toEqual([1, ['0 of 4 a', '1 of 4 b', '2 of 4 c', '3 of 4 d']]);
  expect(first.stderr).toContain('Failed task ids: 1, 3');
  const number = Number(/batch logs (\d+)/.exec(first.stderr)?.[1]);
  await writeFile(mended, '');
  const retried = await runCli(['batch', 'retry', String(number), '--failed', '--wait'], { env });
  expect(retried).toMatchObject({ code: 0, stdout: expect.stringContaining('done: 2 / 2 done') });
  const logs = await runCli(['batch', 'logs', String(number + 1)], { env });
  expect(
    logs.stdout
      .split('\n')
      .flatMap((line) => /\d of .*$/.exec(line) ?? [])
      .toSorted(),
  ).toEqual(['1 of 4 b', '3 of 4 d']);
  const { stdout } = await runCli(['batch', 'status', String(number + 1), '--format', 'json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ retryOf: number, array: '1,3' });
  const nothing = await runCli(['batch', 'retry', String(number + 1)], { env });
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('No task of job')]);
});
