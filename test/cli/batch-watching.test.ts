// The output about a user's jobs while they run and after they failed.
import { describe, expect, it } from 'vitest';

import { workerName as agentsName } from '../../agent/dask/worker-name.ts';
import { workerName } from '../../cli/cluster-instances.ts';
import { formatIds } from '../../cli/failures.ts';
import { formatBar } from '../../cli/progress-bar.ts';
import { aCluster, aJob, aLine, anInstance, aTask } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const jobs = [
  aJob({ number: 3, name: 'beta', command: 'x.py' }),
  aJob({ number: 2, name: 'alpha', status: 'running', endedAt: null }),
  aJob({ number: 1, name: 'gamma', status: 'error' }),
];
const ndjson = (...lines: unknown[]): string[] => lines.map((line) => `${JSON.stringify(line)}\n`);

describe('lists', () => {
  const idsOf = async (...words: string[]): Promise<number[]> => {
    const { env } = await standIn(() => ({ json: { items: jobs, next: null } }));
    const { stdout } = await callCli([...words, '--format', 'json'], { env });
    return JSON.parse(stdout).map(({ number }: { number: number }) => number);
  };

  it('are in the order that was asked for', async () => {
    expect(await idsOf('batch', 'status')).toEqual([3, 2, 1]);
    expect(await idsOf('batch', 'status', '--sort', 'id')).toEqual([1, 2, 3]);
    expect(await idsOf('batch', 'list', '--sort', '-name')).toEqual([1, 3, 2]);
    expect(await idsOf('batch', 'list', '--sort', 'State')).toEqual([3, 1, 2]);
    expect(await idsOf('batch', 'list', '--sort', 'command,-id')).toEqual([2, 1, 3]);
    expect((await callCli(['batch', 'list', '--sort', 'colour'])).code).toBe(2);
  });

  it('of `batch list` have the names of the jobs', async () => {
    const { env } = await standIn(() => ({ json: { items: jobs, next: null } }));
    const { stdout } = await callCli(['batch', 'list'], { env });
    expect(stdout).toContain('│ 3  │ beta  │  done   │');
    expect(stdout).toContain('┃ ID ┃ Name  ┃  State  ┃');
  });
});

describe('a job that failed', () => {
  const failed = aJob({
    status: 'error',
    tasks: { ...aJob().tasks, done: 7, error: 3 },
    recentErrors: [{ task: 3, attempt: 2, text: 'exit code 7', at: '2024-11-18T17:26:00.000Z' }],
    failures: [
      { code: 'EXIT_7', text: 'exit code 7: disk full\u001b[2J', count: 5, lastAt: '2024-11-18T17:26:00.000Z' },
      { code: 'SIGKILL', text: 'signal SIGKILL', count: 1, lastAt: '2024-11-18T17:25:00.000Z' },
    ],
  });
  const tasks = [
    ...[3, 4, 8].map((id) => aTask({ id, index: id, state: 'error', attempt: 2, exitCode: 7 })),
    aTask({ id: 9, index: 9 }),
  ];
  const line = (task: number, attempt: number, stream: string, text: string) => ({
    ...aLine(),
    ...{ task, attempt, stream, text },
  });
  const lines = [
    line(3, 1, 'stderr', 'of an earlier attempt'),
    line(3, 2, 'stdout', 'about to fail'),
    ...Array.from({ length: 7 }, (_, n) => line(3, 2, 'stderr', `error ${n}\u001b[2J`)),
    line(4, 2, 'stdout', 'printed only'),
  ];
  const answer = ({ path, query }: { path: string; query: Record<string, string> }) => {
    const items = tasks.filter(({ state }) => query['state'] === undefined || state === query['state']);
    if (path.endsWith('/logs')) return { chunks: ndjson(...lines) };
    return { json: path.endsWith('/tasks') ? { items, next: null } : failed };
  };

  it.each([
    ['status', 'stdout'],
    ['wait', 'stderr'],
  ] as const)('is described by batch %s with the failed tasks and their last lines', async (command, where) => {
    const { api, env } = await standIn(answer);
    const result = await callCli(['batch', command, '12'], { env });
    const expected = [2, 3, 4, 5, 6].map((n) => `(Task 3)   error ${n}`);
    const causes = [
      'Failed attempts by cause:',
      '  5 x EXIT_7: exit code 7: disk full',
      '  1 x SIGKILL: signal SIGKILL',
    ];
    const shown = [...causes, 'Failed task ids: 3-4, 8', ...expected, '(Task 4)   printed only'].join('\n');
    expect(result[where]).toContain(`(Task 3) attempt 2: exit code 7\n${shown}\n`);
    expect(api.requests.find(({ path }) => path.endsWith('/logs'))).toMatchObject({ query: { tasks: '3,4,8' } });
  });

  it('lists its tasks in the order that was asked for', async () => {
    const { env } = await standIn(answer);
    const { stdout } = await callCli(['batch', 'status', '12', '--sort', '-state,-id', '--format', 'json'], { env });
    expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([8, 4, 3, 9]);
    const other = await callCli(['batch', 'status', '12', '--sort', 'command'], { env });
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('id, state, attempt, exit, started, ended'),
    ]);
  });

  it('lists its failed tasks alone', async () => {
    const { env } = await standIn(answer);
    const { stdout } = await callCli(['batch', 'status', '12', '--state', 'error', '--format', 'json'], { env });
    expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([3, 4, 8]);
    expect((await callCli(['batch', 'status', '--state', 'error'], { env })).code).toBe(2);
    expect((await callCli(['batch', 'status', '12', '--state', 'failed'], { env })).code).toBe(2);
  });

  it('names many ids shortly', () => {
    expect(formatIds([1, 2, 3, 7, 9, 10], false)).toBe('1-3, 7, 9-10');
    expect(formatIds([1, 2], true)).toBe('1-2 and more');
    expect(
      formatIds(
        Array.from({ length: 30 }, (_, n) => 2 * n),
        false,
      ),
    ).toMatch(/^0, 2, .*, 38 and more$/);
  });
});

describe('the bar of a running job', () => {
  const running = (done: number, total: number, cancelled = 0) =>
    aJob({ status: 'running', endedAt: null, tasks: { ...aJob().tasks, total, done, cancelled } });
  const startMs = Date.parse(aJob().startedAt ?? '');

  it.each([
    [running(45, 100), 18, '[#########           ] 45 %, 2.5/s, 22 s left'],
    [running(1, 3), 30, '[######              ] 33 %, 2.0/min, 1 m 0 s left'],
    [running(1, 2), 7_200, '[##########          ] 50 %, 0.5/h, 2 h 0 m left'],
    [running(0, 10), 5, '[                    ] 0 %'],
    // Of 100 tasks, 45 were cancelled: the last 50 take ten times as long as the first five.
    [running(5, 100, 45), 10, '[##########          ] 50 %, 0.5/s, 1 m 40 s left'],
    [running(0, 10, 5), 5, '[##########          ] 50 %'],
    [aJob(), 5, ''],
  ])('%# after %s s is %s', (job, seconds, bar) => {
    expect(formatBar(job, startMs + seconds * 1_000)).toBe(bar);
  });
});

describe('logs', () => {
  const at = (second: number) => `2025-07-09T16:50:${second}.000Z`;
  const printed = [
    aLine({ task: 1, at: at(12), text: 'late' }),
    aLine({ task: 0, at: at(10), text: 'early' }),
    aLine({ task: 0, at: at(11), text: 'an ERROR (1)' }),
  ];
  const texts = (stdout: string) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((one) => one.replace(/^.*\d{6} /, ''));

  it('of a job are in the order of time, and filtered by text or expression', async () => {
    const { api, env } = await standIn(() => ({ chunks: ndjson(...printed) }));
    const read = async (...words: string[]) =>
      texts((await callCli(['batch', 'logs', '12', ...words], { env })).stdout);
    expect(await read()).toEqual(['early', 'an ERROR (1)', 'late']);
    expect(await read('--filter', 'ERROR (1)')).toEqual(['an ERROR (1)']);
    expect(await read('--filter', '%^(late|early)$%')).toEqual(['early', 'late']);
    await read('--task', '0', '--tasks', '1');
    expect(api.requests.at(-1)).toMatchObject({ query: { tasks: '1,0' } });
    expect((await callCli(['batch', 'logs', '12', '--filter', '%(%'], { env })).code).toBe(2);
  });

  it('are those of the newest job unless one is named', async () => {
    const { api, env } = await standIn(({ path }) =>
      path.endsWith('/logs') ? { chunks: ndjson(aLine()) } : { json: { items: jobs, next: null } },
    );
    expect(texts((await callCli(['batch', 'logs', '--task', '0'], { env })).stdout)).toEqual(['Hello from 0']);
    expect(api.requests.map(({ path }) => path)).toEqual(['/v1/jobs', '/v1/jobs/3/logs']);
    const none = await standIn(() => ({ json: { items: [], next: null } }));
    const refused = await callCli(['batch', 'logs'], { env: none.env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('there is no job with output')]);
  });

  it.each([
    ['short', '2025-07-09T16:50:37 Hello from 0'],
    ['detailed', '2025-07-09T16:50:37.844000+00:00 i_abc/task-0 Hello from 0'],
  ])('are written as aws logs tail does: %s', async (format, line) => {
    const { env } = await standIn(() => ({ chunks: ndjson(aLine(), aLine({ text: 'a\u001b[2J' })) }));
    const { stdout } = await callCli(['batch', 'logs', '12', '--format', format], { env });
    expect(stdout).toBe(`${line}\n${line.replace('Hello from 0', 'a')}\n`);
  });

  it('of the scheduler, of workers by name or state, of one of them, or of all, are read by one command', async () => {
    const instances = [
      anInstance({ id: 'i_head', role: 'head' }),
      anInstance({ id: 'i_a', role: 'worker', state: 'ready', address: '10.0.0.1' }),
      anInstance({ id: 'i_b', role: 'worker', state: 'stopping', address: '10.0.0.2' }),
    ];
    const ids = ['i_head', 'i_a', 'i_b', 'i_ended'];
    const lines = ids.map((instance) => aLine({ instance, task: null, text: instance }));
    const { env } = await standIn(({ path }) =>
      path.endsWith('/logs') ? { chunks: ndjson(...lines) } : { json: aCluster({ job: null, instances }) },
    );
    const read = async (...words: string[]) => texts((await callCli(['logs', '7', ...words], { env })).stdout);
    expect(await read()).toEqual(ids);
    expect(await read('--scheduler')).toEqual(['i_head']);
    expect(await read('--workers', 'all')).toEqual(['i_a', 'i_b', 'i_ended']);
    expect(await read('--workers', 'any')).toEqual(['i_a']);
    expect(await read('--scheduler', '--workers', 'stopping,10.0.0.1')).toEqual(['i_head', 'i_a', 'i_b']);
  });

  it('of an ended cluster, whose view has no instances, are chosen by those of its end', async () => {
    const instances = [
      { id: 'i_00000000head', role: 'head', state: 'stopping' },
      { id: 'i_00000000aaaa', role: 'worker', state: 'stopping' },
      { id: 'i_00000000bbbb', role: 'worker', state: 'error' },
    ];
    const [head, one, other] = instances.map(({ id }) => id);
    const gone = 'i_00000000gone';
    const lines = [head, one, other, gone].map((id) => aLine({ instance: id ?? '', task: null, text: id ?? '' }));
    const ended = aCluster({
      ...{ status: 'stopped', instances: [], endedAt: '2025-07-09T17:00:00.000Z' },
      reason: { code: 'STOPPED', text: 'Stopped by ada.', at: '2025-07-09T16:59:00.000Z' },
    });
    const { api, env } = await standIn(({ path }) => {
      if (path.endsWith('/logs')) return { chunks: ndjson(...lines) };
      return { json: path.endsWith('/at') ? { instances } : ended };
    });
    const read = async (...words: string[]) => texts((await callCli(['logs', '7', ...words], { env })).stdout);
    expect(await read('--scheduler')).toEqual([head]);
    expect(api.requests.find(({ path }) => path.endsWith('/at'))?.query).toEqual({ time: '2025-07-09T16:59:00.000Z' });
    expect(await read('--workers', 'all')).toEqual([one, other, gone]);
    expect(await read('--workers', 'any')).toEqual([one]);
    expect(await read('--workers', 'error')).toEqual([other]);
    expect(await read('--workers', `blue-worker-0000aaaa,${gone}`)).toEqual([one, gone]);
    expect(await read('--workers', 'blue-worker-0000gone')).toEqual([gone]);
    const names = (await callCli(['logs', '7'], { env })).stdout
      .split('\n')
      .map((each) => /^\(([^)]+)/.exec(each)?.[1]);
    expect(names.slice(0, 4)).toEqual(['scheduler', 'blue-worker-0000aaaa', 'blue-worker-0000bbbb', gone]);
  });

  it('of a worker that there is not are an error that names those that there are', async () => {
    const { env } = await standIn(({ path }) => (path.endsWith('/logs') ? { chunks: [] } : { json: aCluster() }));
    const { code, stderr } = await callCli(['logs', '7', '--workers', 'blue-worker-one,nope'], { env });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('there is no nope; there are blue-worker-one, blue-worker-two'),
    });
  });

  it('name workers as agents do', () => {
    for (const id of ['i_679v16r88c4p02970c7a', 'i-0123456789abcdef0', 'i_x'])
      expect(workerName('blue', id)).toBe(agentsName('blue', id));
  });

  it('of a job are those of its tasks there', async () => {
    const { api, env } = await standIn(({ path }) =>
      path.endsWith('/logs') ? { chunks: ndjson(aLine()) } : { json: aCluster({ number: 12, job: 12, instances: [] }) },
    );
    expect(texts((await callCli(['logs', '12'], { env })).stdout)).toEqual(['Hello from 0']);
    expect(api.requests.at(-1)?.path).toBe('/v1/jobs/12/logs');
  });
});
