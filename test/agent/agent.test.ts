// Real agents running real commands: their promises to their job and to the tasks.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { isSameProcess, scanProcesses, startTimeOf } from '../../providers/local/processes.ts';
import type { Bundle } from '../../schema/agent.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, fileText, launchAgent, scriptFile } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

let bench: Bench;
let scratch: string;
let api: AgentApi;
let agent: Agent;

beforeAll(async () => {
  bench = await createBench();
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-tasks-'));
});
afterAll(async () => {
  await bench.remove();
  await rm(scratch, { recursive: true, force: true });
});
afterEach(async () => {
  await agent.terminate();
  await api.close();
});

/** An agent that receives these array ids, one task each. */
async function start(bundle: Partial<Bundle>, ids: number[] = [0], prepare: (api: AgentApi) => void = () => {}) {
  api = await startAgentApi(bundle);
  prepare(api);
  api.enqueue(...ids);
  agent = await launchAgent(bench, api);
}

const resultOf = (task: number) => eventually(() => api.results().find((result) => result.task === task));
const text = async (stream: 'stdout' | 'stderr' | 'agent', task = 0): Promise<string[]> =>
  (await agent.lines({ tasks: new Set([task]) })).filter((line) => line.stream === stream).map((line) => line.text);

describe('results', () => {
  it('have the exit codes of tasks, one task after the other', async () => {
    await start({ command: ['sh', '-c', 'exit $ROPEWALK_BATCH_TASK_ID'] }, [0, 3, 77]);
    const codes = [await resultOf(0), await resultOf(3), await resultOf(77)].map((result) => result.exitCode);
    expect(codes).toEqual([0, 3, 77]);
    expect((await resultOf(3)).signal).toBeNull();
  });

  it('have the signal that ended a command', async () => {
    await start({ command: ['sh', '-c', 'kill -SEGV $$'] });
    expect(await resultOf(0)).toMatchObject({ exitCode: null, signal: 'SIGSEGV', reason: null });
  });

  it('have exit code 127 and the reason when a command could not be started', async () => {
    await start({ command: ['no-such-program-here', 'x'] });
    const result = await resultOf(0);
    expect(result.exitCode).toBe(127);
    expect(result.reason).toContain('no-such-program-here');
    expect(await text('agent')).toEqual([result.reason]);
  });

  it('repeats a result until it is acknowledged, and keeps it on disk until then', async () => {
    await start({ command: ['true'] }, [0], (fresh) => (fresh.acknowledges = false));
    await eventually(() => api.results().length >= 3);
    const { lease } = await resultOf(0);
    expect(JSON.parse(await readFile(join(agent.directory, 'results', `${lease}.jsonl`), 'utf8'))).toEqual(
      api.results()[0],
    );
    expect(new Set(api.results().map((result) => JSON.stringify(result))).size).toBe(1);
    api.acknowledges = true;
    await eventually(async () => (await readdir(join(agent.directory, 'results'))).length === 0);
    const said = api.exchanges.length;
    await eventually(() => api.exchanges.length > said + 1);
    expect(api.exchanges.slice(said + 1).every((exchange) => exchange.results.length === 0)).toBe(true);
  });
});

describe('outages', () => {
  it('works on while the API is unavailable, and delivers its results afterwards', async () => {
    const go = join(scratch, 'go');
    const done = join(scratch, 'done');
    const script = 'while [ ! -e "$1" ]; do sleep 0.05; done; echo yes > "$2"; exit 5';
    await start({ command: ['sh', '-c', script, 'sh', go, done] });
    await eventually(() => api.exchanges.find((exchange) => exchange.running.length > 0));
    await api.close();
    await writeFile(go, '');
    expect(await fileText(done)).toBe('yes');
    await eventually(async () => (await readdir(join(agent.directory, 'results'))).length === 1);
    expect(await agent.hasEnded()).toBe(false);
    await api.open();
    expect(await resultOf(0)).toMatchObject({ exitCode: 5 });
    expect(api.registrations).toHaveLength(1);
  });

  it('repeats a claim whose answer was lost under its number, and runs its grant once', async () => {
    const runs = join(scratch, 'runs');
    await start({ command: ['sh', '-c', 'echo run >> "$1"', 'sh', runs] }, [0], (fresh) =>
      fresh.lost.push('/v1/agent/exchange'),
    );
    await resultOf(0);
    const [first, second] = api.exchanges;
    expect([first?.claim, second?.claim]).toEqual([1, 1]);
    await eventually(() => api.exchanges.find((exchange) => exchange.claim >= 3));
    expect(await readFile(runs, 'utf8')).toBe('run\n');
  });

  it('retries after 503, 429 and 500, and after an answer that is not valid', async () => {
    await start({ command: ['true'] }, [0], (fresh) => {
      fresh.failures.push({ status: 503, path: '/v1/agent/register', headers: { 'retry-after': '0' } });
      fresh.failures.push({ status: 429, path: '/v1/agent/bundle' }, { status: 500, path: '/v1/agent/exchange' });
      fresh.failures.push({ status: 200, path: '/v1/agent/exchange' });
    });
    expect((await resultOf(0)).exitCode).toBe(0);
  });

  it('registers again, as the same boot, when its token is refused', async () => {
    await start({ command: ['true'] });
    await resultOf(0);
    api.revokeTokens();
    api.enqueue(1);
    await resultOf(1);
    const [first, second] = api.registrations;
    expect(second).toEqual(first);
  });
});

describe('ending', () => {
  it('ends its task and itself on the order to stop', async () => {
    const pidFile = join(scratch, 'stopped-pid');
    await start({ command: ['sh', '-c', 'echo $$ > "$1"; exec sleep 1000', 'sh', pidFile] });
    const task = await identityOf(Number(await fileText(pidFile)));
    api.answer.stop = { code: 'JOB_OVER', text: 'The job has ended.' };
    await eventually(() => agent.hasEnded());
    expect(await isSameProcess(task)).toBe(false);
    expect(api.results()).toEqual([]);
    expect((await agent.lines()).map((line) => line.text).join()).toContain('The job has ended. (JOB_OVER)');
  });

  it('reports to its cluster that it leaves, once its task has ended, when its job has given it up', async () => {
    const pidFile = join(scratch, 'lost-pid');
    await start({ command: ['sh', '-c', 'echo $$ > "$1"; exec sleep 1000', 'sh', pidFile] });
    const task = await identityOf(Number(await fileText(pidFile)));
    api.answer.stop = { code: 'INSTANCE_LOST', text: 'This instance was given up.' };
    const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'));
    expect(leaving.text).toBe('This instance was given up.');
    expect(await isSameProcess(task)).toBe(false);
    await eventually(() => agent.hasEnded());
    expect(api.results()).toEqual([]);
    expect((await agent.lines()).map((line) => line.text).join()).toContain('given up. (INSTANCE_LOST)');
  });

  it('ends when the API says that there is nothing for it any more', async () => {
    await start({ command: ['true'] }, [], (fresh) => fresh.failures.push({ status: 410, path: '/v1/agent/exchange' }));
    await eventually(() => agent.hasEnded());
  });

  it('ends the command of a lease that has ended, and does not report it', async () => {
    const pidFile = join(scratch, 'dropped-pid');
    const script =
      'if [ $COILED_BATCH_TASK_ID = 0 ]; then trap "" TERM; echo $$ > "$1"; while :; do sleep 0.1; done; fi';
    await start({ command: ['sh', '-c', script, 'sh', pidFile] }, [0, 1]);
    const task = await identityOf(Number(await fileText(pidFile)));
    api.ended.add(1);
    expect(await resultOf(1)).toMatchObject({ lease: 2, exitCode: 0 });
    expect(await isSameProcess(task)).toBe(false);
    expect(api.results().filter((result) => result.lease === 1)).toEqual([]);
  });

  it('ends what a finished task left running in its group before the next task starts', async () => {
    const pidFile = join(scratch, 'orphan-pid');
    const script = 'if [ $COILED_BATCH_TASK_ID = 0 ]; then sleep 1000 & echo $! > "$1"; fi';
    await start({ command: ['sh', '-c', script, 'sh', pidFile] }, [0, 1]);
    await resultOf(1);
    const orphan = Number(await fileText(pidFile));
    expect(await startTimeOf(orphan)).toBeNull();
  });

  it('ends its task when it ends by SIGTERM', async () => {
    const pidFile = join(scratch, 'term-pid');
    await start({ command: ['sh', '-c', 'echo $$ > "$1"; exec sleep 1000', 'sh', pidFile] });
    const task = await identityOf(Number(await fileText(pidFile)));
    process.kill(agent.pid, 'SIGTERM');
    await eventually(() => agent.hasEnded());
    expect(await isSameProcess(task)).toBe(false);
  });
});

describe('what a task sees', () => {
  const hostile = [
    ...['', ' ', 'a b', "it's", '"quoted"', '*', '-n'],
    'line\nbreak\r\n\ttab',
    ...['$(touch /tmp/owned)', '`id`', '; rm -rf /'],
    '$UNKNOWN_NAME ${UNKNOWN_NAME} $ $$ ${',
    '\\$NO_SUCH_NAME\\',
    'ünï ☃ 🧵',
    '\u0001\u001b[31m',
  ];

  it('gets every word of the command exactly as it was sent', async () => {
    const show = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    await start({ command: [process.execPath, '-e', show, '--', ...hostile] });
    await resultOf(0);
    const [printed] = await text('stdout');
    expect(JSON.parse(printed ?? '')).toEqual(hostile);
  });

  it('gets its input byte for byte, in its variables and in the words of its command', async () => {
    const show = 'process.stdout.write(JSON.stringify([process.env.FILE, process.argv[1]]))';
    const inputs = { names: ['COILED_BATCH_TASK_INPUT', 'FILE'], values: ['', hostile.join('')] };
    await start({ command: [process.execPath, '-e', show, '--', '$COILED_BATCH_TASK_INPUT'], inputs }, [1]);
    await resultOf(1);
    const [printed] = await text('stdout', 1);
    expect(JSON.parse(printed ?? '')).toEqual([hostile.join(''), hostile.join('')]);
  });

  it('gets the environment that batch jobs promise, the job`s own, and no secret', async () => {
    const show = 'process.stdout.write(JSON.stringify(process.env))';
    const env = { GREETING: 'hello "you"\nthere', COILED_BATCH_TASK_ID: 'spoofed', ROPEWALK_INSTANCE: 'spoofed' };
    await start({ command: [process.execPath, '-e', show], env }, [42], (fresh) => {
      Object.assign(fresh.answer, {
        taskCount: 9,
        schedulerAddress: '10.0.0.1',
        readyWorkers: ['10.0.0.1', '10.0.0.2'],
      });
    });
    await resultOf(42);
    const [printed] = await text('stdout', 42);
    const seen: Record<string, string> = JSON.parse(printed ?? '');
    const facts = {
      BATCH_TASK_ID: '42',
      ARRAY_TASK_ID: '42',
      BATCH_TASK_COUNT: '9',
      BATCH_LOCAL_ADDRESS: '127.0.0.1',
      BATCH_SCHEDULER_ADDRESS: '10.0.0.1',
      BATCH_PROCESS_TYPE: 'worker',
      BATCH_READY_WORKERS: '10.0.0.1,10.0.0.2',
      CLUSTER_ID: '7',
      CLUSTER_NAME: 'job-7',
      CLUSTER_HOSTNAME: '10.0.0.1',
      ...{ INSTANCE_ID: agent.id, WORKSPACE_SLUG: 'weather' },
    };
    for (const [name, value] of Object.entries(facts)) {
      expect([name, seen[`COILED_${name}`]]).toEqual([name, value]);
      expect([name, seen[`ROPEWALK_${name}`]]).toEqual([name, value]);
    }
    expect(seen).toMatchObject({ GREETING: env.GREETING, ROPEWALK_INSTANCE: agent.id, ROPEWALK_TASK_ATTEMPT: '1' });
    expect(seen['PATH']).toBe(process.env['PATH']);
    expect(JSON.stringify(seen)).not.toContain(api.launchToken);
    expect(Object.keys(seen).filter((name) => name.startsWith('VITEST'))).toEqual([]);
  });

  it('starts in a fresh directory with the job`s files, which is gone afterwards', async () => {
    const show = 'pwd; cat data/input.txt; ls; echo made > made.txt';
    const files = [scriptFile('data/input.txt', 'some input\n'), scriptFile('run.sh', show)];
    await start({ command: ['run.sh'], files }, [5, 6]);
    await resultOf(6);
    const work = join(agent.directory, 'work');
    expect(await text('stdout', 5)).toEqual([join(work, '5-1'), 'some input', 'data', 'run.sh']);
    expect(await text('stdout', 6)).toEqual([join(work, '6-1'), 'some input', 'data', 'run.sh']);
    await eventually(async () => (await readdir(work)).length === 0);
  });

  it('is not run at all with a file that would lie outside its directory', async () => {
    await start({ command: ['true'], files: [scriptFile('../../escaped.txt', 'x')] });
    const result = await resultOf(0);
    expect(result.exitCode).toBe(127);
    expect(result.reason).toContain('../escaped.txt');
    expect(await readdir(agent.directory)).not.toContain('escaped.txt');
  });

  it('has its output kept line by line, the last one without a newline too', async () => {
    const script = 'printf "one\\n\\ntwo ☃\\nunfinished"; printf "err\\nmore" >&2; echo named > /dev/stderr';
    await start({ command: ['bash', '-c', script] });
    await resultOf(0);
    expect(await text('stdout')).toEqual(['one', '', 'two ☃', 'unfinished']);
    expect(await text('stderr')).toEqual(['err', 'morenamed']);
  });

  it('cannot hold up its own end with a process that keeps its output open', async () => {
    const pidFile = join(scratch, 'open-output-pid');
    const command = 'setsid sh -c \'sleep 1000 & echo $! > "$1"\' sh "$1"; echo hello';
    await start({ command: ['sh', '-c', command, 'sh', pidFile] });
    expect((await resultOf(0)).exitCode).toBe(0);
    expect(await text('stdout')).toEqual(['hello']);
    const writer = await identityOf(Number(await fileText(pidFile)));
    await agent.terminate();
    expect(await isSameProcess(writer)).toBe(false);
  });
});

async function identityOf(pid: number): Promise<{ pid: number; startTime: string }> {
  const found = (await scanProcesses()).find((entry) => entry.pid === pid);
  if (found === undefined) throw new Error(`no process ${pid}`);
  return found;
}
