import { describe, expect, it } from 'vitest';

import { aJob, aLine, anError, aTask } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './run-cli.ts';
import { standIn } from './stand-in.ts';

const jobs = [
  aJob({ number: 659567, command: 'process.py', cost: { dollars: 0.0111, dollarsPerHour: 0 } }),
  aJob({
    number: 658288,
    status: 'pending',
    endedAt: null,
    command: 'train.sh',
    cost: { dollars: 0.0042, dollarsPerHour: 0.2 },
    tasks: { ...aJob().tasks, total: 20, done: 0 },
  }),
  aJob({ number: 655848, command: "echo 'Hello,\u001b[2J\u202e there'" }),
];

describe('batch status and batch list', () => {
  it('is a table of the newest jobs', async () => {
    const { api, env } = await standIn(() => ({ json: { items: jobs, next: null } }));
    const { code, stdout, stderr } = await callCli(['batch', 'status', '--limit', '3'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`\
┏━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┓
┃ ID     ┃  State  ┃ Tasks Done ┃           Submitted ┃            Finished ┃ Approx Cloud Cost ┃ Command             ┃
┡━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━┩
│ 659567 │  done   │   10 /  10 │ 2024-11-18 17:25:08 │ 2024-11-18 17:26:07 │             $0.01 │ process.py          │
│ 658288 │ pending │    0 /  20 │ 2024-11-18 17:25:08 │                     │            <$0.01 │ train.sh            │
│ 655848 │  done   │   10 /  10 │ 2024-11-18 17:25:08 │ 2024-11-18 17:26:07 │                   │ echo 'Hello, there' │
└────────┴─────────┴────────────┴─────────────────────┴─────────────────────┴───────────────────┴─────────────────────┘
`);
    expect(api.requests[0]).toMatchObject({ path: '/v1/jobs', query: { limit: '3' } });
  });

  it.each([
    ['batch', 'list'],
    ['batch', 'status'],
  ])('%s %s leaves filtering to the server', async (...words) => {
    const { api, env } = await standIn(() => ({ json: { items: [], next: null } }));
    const filters = ['--status', 'error', '--user', 'ada', '--name', 'nightly', '--search', 'train', '--limit', '2'];
    const { code, stderr } = await callCli([...words, ...filters], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('No job matches.')]);
    const query = { status: 'error', user: 'ada', name: 'nightly', q: 'train', limit: '2' };
    expect(api.requests[0]).toMatchObject({ path: '/v1/jobs', query });
  });

  it('does not filter one job', async () => {
    const { env } = await standIn(() => ({ json: aJob() }));
    expect((await callCli(['batch', 'status', '12', '--user', 'ada'], { env })).code).toBe(2);
  });

  it('is JSON for programs', async () => {
    const { env } = await standIn(() => ({ json: { items: jobs, next: null } }));
    const { stdout } = await callCli(['batch', 'list', '--format', 'json'], { env });
    expect(JSON.parse(stdout)).toEqual(jobs);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('\u202e');
  });

  it('says that there are no jobs', async () => {
    const { env } = await standIn(() => ({ json: { items: [], next: null } }));
    const result = await callCli(['batch', 'list'], { env });
    expect(result).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('There are no jobs yet') });
  });

  it('shows one job with its newest errors, and its tasks', async () => {
    const job = aJob({
      status: 'error',
      reason: { code: 'TASKS_FAILED', text: '1 task failed', at: '2024-11-18T17:26:07.000Z' },
      tasks: { ...aJob().tasks, done: 9, error: 1 },
      recentErrors: [{ task: 3, attempt: 2, text: 'exit code 7', at: '2024-11-18T17:26:00.000Z' }],
    });
    const tasks = [
      aTask(),
      aTask({
        id: 3,
        index: 1,
        state: 'error',
        attempt: 2,
        exitCode: 7,
        reason: 'lost twice',
        cost: { dollars: 2e-6 },
      }),
    ];
    const { env } = await standIn(({ path }) => ({
      json: path.endsWith('/tasks') ? { items: tasks, next: null } : job,
    }));
    const one = await callCli(['batch', 'status', '12'], { env });
    expect(one.stdout).toContain(
      'Job 12 error: 9 / 10 done, 1 error in 57.0 s (1 task failed)\n(Task 3) attempt 2: exit code 7\n',
    );
    const rows = await callCli(['batch', 'status', '12', '--tasks'], { env });
    expect(rows.stdout).toContain(
      '│    0 │ done  │       1 │    0 │ 2024-11-18 17:25:10 │ 2.5 s │     $0.0003 │ i_abc    │            │',
    );
    expect(rows.stdout).toContain(
      '│    3 │ error │       2 │    7 │ 2024-11-18 17:25:10 │ 2.5 s │    <$0.0001 │ i_abc    │ lost twice │',
    );
    expect(
      JSON.parse((await callCli(['batch', 'status', '12', '--tasks', '--format', 'json'], { env })).stdout),
    ).toEqual(tasks);
  });

  it('shows the first 1,000 tasks as a table, those of --limit, and all as JSON', async () => {
    const pages = Array.from({ length: 3 }, (_, page) =>
      Array.from({ length: 1_000 }, (_each, at) => aTask({ id: page * 1_000 + at, index: page * 1_000 + at })),
    );
    const { api, env } = await standIn(({ query }) => {
      const from = Number(query['after'] ?? 0);
      const all = pages.flat().slice(from, from + Number(query['limit']));
      return { json: { items: all, next: from + all.length < 3_000 ? String(from + all.length) : null } };
    });
    const show = async (...words: string[]) => {
      api.requests.length = 0;
      const { stdout, stderr } = await callCli(['batch', 'status', '12', '--tasks', ...words], { env });
      return { rows: stdout.match(/^│ +\d+ │/gm)?.length, stdout, stderr, requests: api.requests.length };
    };
    const hint = (shown: number) =>
      `There are more tasks than these ${shown}: --limit N, --state error, --format json\n`;
    expect(await show()).toMatchObject({ rows: 1_000, stderr: hint(1_000), requests: 2 });
    expect(await show('--limit', '3')).toMatchObject({ rows: 3, stderr: hint(3), requests: 1 });
    expect(await show('--limit', '5000')).toMatchObject({ rows: 3_000, stderr: '' });
    expect(JSON.parse((await show('--format', 'json')).stdout)).toHaveLength(3_000);
  });

  it('lists the files of a job with local times, as all tables have them', async () => {
    const file = { path: 'out.csv', sha256: 'a'.repeat(64), bytes: 7, executable: false, job: 12, task: 3 };
    const items = [{ ...file, storedAt: '2026-01-31T12:00:00.500Z' }];
    const { env } = await standIn(() => ({ json: { items, next: null } }));
    const { stdout } = await callCli(['batch', 'files', '12'], { env: { ...env, TZ: 'UTC' } });
    expect(stdout).toContain('│    3 │     7 │ 2026-01-31 12:00:00 │ out.csv │');
  });

  it('has one exit code for failures and one for invalid command lines', async () => {
    const { env } = await standIn(() => anError(404, { code: 'NOT_FOUND', message: 'there is no job 99' }));
    expect(await callCli(['batch', 'status', '99'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: there is no job 99\n  request id: req_1\n',
    });
    const wrong = [
      ['status', '012'],
      ['status', 'a b'],
      ['status', '--tasks'],
      ['list', '--limit', '0'],
      ['nonsense'],
      [],
    ];
    const results = await Promise.all(wrong.map((words) => callCli(['batch', ...words], { env })));
    for (const result of results) expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(await callCli(['--help'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('batch logs', () => {
  const ndjson = (...lines: unknown[]): string[] => lines.map((line) => `${JSON.stringify(line)}\n`);

  it('prints lines as Coiled does, without control characters', async () => {
    const { api, env } = await standIn(() => ({
      chunks: ndjson(
        aLine(),
        aLine({ task: 1, at: '2025-07-09T16:50:38.387Z', text: 'Hello from 1' }),
        aLine({ task: 2, attempt: 2, text: '\u001b]0;title\u0007a\u001b[31mred\u001b[0m\rb\tc\u009b2J\u0000' }),
        aLine({ task: null, attempt: null, stream: 'agent', text: 'two\nlines' }),
      ),
    }));
    const { code, stdout, stderr } = await callCli(
      ['batch', 'logs', '12', '--tasks', '0-2', '--since', '2025-01-01', '--instances'],
      {
        env,
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      '(Task 0)        2025-07-09 16:50:37.844000 Hello from 0\n' +
        '(Task 2 attempt 2) 2025-07-09 16:50:37.844000 aredb\tc\n' +
        '(Instance i_abc) 2025-07-09 16:50:37.844000 twolines\n' +
        '(Task 1)        2025-07-09 16:50:38.387000 Hello from 1\n',
    );
    const tasksOnly = await callCli(['batch', 'logs', '12'], { env });
    expect(tasksOnly.stdout).not.toContain('Instance');
    expect(tasksOnly.stdout).toContain('(Task 2 attempt 2)');
    expect(api.requests.slice(0, 1)).toMatchObject([
      { path: '/v1/jobs/12/logs', query: { tasks: '0-2', since: '2025-01-01T00:00:00.000Z' } },
    ]);
  });

  it('prints one JSON object per line on request', async () => {
    const lines = [aLine({ text: '\u009b2J' }), aLine({ task: 1 })];
    const { env } = await standIn(() => ({ chunks: ndjson(...lines) }));
    const { stdout } = await callCli(['batch', 'logs', '12', '--format', 'json'], { env });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(lines);
    expect(stdout).not.toContain('\u009b');
  });

  it('follows until Ctrl-C', async () => {
    const { api, env } = await standIn(() => ({ chunks: ndjson(aLine()), ending: 'hang' }));
    const cli = startCli(['batch', 'logs', '12', '--follow', '--since', '10m'], { env });
    try {
      await expect.poll(cli.stdout, { timeout: 20_000 }).toContain('Hello from 0\n');
      cli.child.kill('SIGINT');
      expect(await cli.result).toMatchObject({ code: 130, stderr: expect.stringContaining('ropewalk batch logs 12') });
      expect(api.requests[0]?.query['follow']).toBe('true');
    } finally {
      cli.child.kill('SIGKILL');
    }
  });

  it('ends without an error when its reader closes', async () => {
    const many = Array.from({ length: 20_000 }, (_, task) => aLine({ task, text: 'x'.repeat(100) }));
    const { env } = await standIn(() => ({ chunks: [ndjson(...many).join('')] }));
    const cli = startCli(['batch', 'logs', '12'], { env });
    cli.child.stdout?.once('data', () => cli.child.stdout?.destroy());
    expect(await cli.result).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('batch wait and batch cancel', () => {
  it('waits for the newest job, through an outage', async () => {
    const running = aJob({ status: 'running', endedAt: null });
    const unavailable = anError(
      503,
      { code: 'UNAVAILABLE', message: 'Temporal is unavailable' },
      { 'retry-after': '99' },
    );
    const { env } = await standIn(({ query }, nth) => {
      if (query['limit'] === '1') return { json: { items: [running], next: null } };
      return nth === 2 ? { json: running } : nth === 3 ? unavailable : { json: aJob() };
    });
    const { code, stdout, stderr } = await callCli(['batch', 'wait'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Job 12 done: 10 / 10 done in 57.0 s\n' });
    expect(stderr).toContain('Retrying: Temporal is unavailable\n');
  });

  it('prints the job as JSON on request', async () => {
    const { env } = await standIn(() => ({ json: aJob({ status: 'error' }) }));
    const { code, stdout } = await callCli(['batch', 'wait', '12', '--format', 'json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual(aJob({ status: 'error' }));
  });

  it('cancels', async () => {
    const { api, env } = await standIn(() => ({ status: 202, json: {} }));
    expect(await callCli(['batch', 'cancel', '12'], { env })).toMatchObject({
      code: 0,
      stdout: 'Job 12: cancelling\n',
    });
    expect(api.requests).toMatchObject([{ method: 'POST', path: '/v1/jobs/12/cancel' }]);
  });

  it('cancels some tasks', async () => {
    // None is cancelled yet at the time of the answer.
    const { api, env } = await standIn(() => ({ status: 202, json: { tasks: { cancelled: 0, total: 10 } } }));
    expect(await callCli(['batch', 'cancel', '12', '--task', '3,7-9'], { env })).toMatchObject({
      code: 0,
      stdout: 'Job 12: cancelling tasks 3,7-9\n',
    });
    const path = '/v1/jobs/12/tasks/cancel';
    expect(api.requests).toMatchObject([{ method: 'POST', path, body: { tasks: '3,7-9' } }]);
  });
});

it.each([
  ['batch', 'jobs'],
  ['cluster', 'clusters'],
])('%s why prints a line for each sentence, under its topic, or JSON', async (group, path) => {
  const fact = (...events: number[]) => ({ name: 'x', value: 1, at: null, events });
  const sentence = (about: string, text: string, ...facts: unknown[]) => ({ about, text, facts });
  const sentences = [
    sentence('state', 'It runs.', fact()),
    sentence('size', 'It is small.', fact(17, 9), fact(17), fact()),
    sentence('size', 'No\n room.', fact(9)),
  ];
  const why = { number: 7, status: 'ready', sentences, staleSince: null };
  const { api, env } = await standIn(() => ({ json: why }));
  const { code, stdout } = await callCli([group, 'why', '7'], { env });
  expect([code, stdout]).toEqual([
    0,
    'State      It runs.\nSize       It is small. (events #9, #17)\n           No | room. (event #9)\n',
  ]);
  expect(api.requests[0]).toMatchObject({ method: 'GET', path: `/v1/${path}/7/why` });
  expect(JSON.parse((await callCli([group, 'why', '7', '--format', 'json'], { env })).stdout)).toEqual(why);
});
