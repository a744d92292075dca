import { describe, expect, it } from 'vitest';

import { cancelJob } from '../../domain/job/events.ts';
import type { JobState } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/job/limits.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import { endTasks } from '../builders/end-tasks.ts';
import { aClusterView } from '../store/fixtures.ts';
import { archivePages } from './archive-pages.ts';
import { createTestApi, endedView, json } from './support.ts';

describe('reading tasks', () => {
  it('puts archive pages, records in hand and open tasks into the order of their index', async () => {
    const api = await createTestApi();
    const total = taskPageSize * 2 + 100;
    const number = await api.submit({ array: `10-${total + 9}` });
    const job = api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    // They end in a scattered order: the records of a window lie in different pages.
    const order = Array.from({ length: total - 50 }, (_, n) => (n * 11) % (total - 50));
    endInOrder(job, order);
    await archivePages(api, job);

    const seen: { id: number; index: number; state: string; exitCode: number | null }[] = [];
    for (let next: string | null = ''; next !== null;) {
      const query: string = next === '' ? '' : `&after=${next}`;
      const page = await (await api.call('GET', `/v1/jobs/${number}/tasks?limit=170${query}`)).json();
      seen.push(...page.items);
      next = page.next;
    }
    expect(seen.map(({ index }) => index)).toEqual(Array.from({ length: total }, (_, n) => n));
    expect(seen.every(({ id, index }) => id === index + 10)).toBe(true);
    expect(seen.filter(({ state }) => state === 'pending').map(({ index }) => index)).toEqual(
      Array.from({ length: 50 }, (_, n) => total - 50 + n),
    );
    expect(seen.filter(({ state }) => state === 'done').every(({ exitCode }) => exitCode === 0)).toBe(true);
  });

  it('gives the states of 12,000 tasks as runs, and pages of the tasks in one state', async () => {
    const api = await createTestApi();
    const total = 12_000;
    const number = await api.submit({ ntasks: total });
    const job = api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    endInOrder(job, [0, 1, 2, 5_999, 6_000, 11_999]);
    const answer = await api.call('GET', `/v1/jobs/${number}/task-states`);
    const { runs, durations, ...rest } = await answer.json();
    expect(rest).toEqual({ total, tasksPerCell: 1 });
    expect(runs).toEqual([
      { state: 'done', count: 3 },
      { state: 'pending', count: 5_996 },
      { state: 'done', count: 2 },
      { state: 'pending', count: 5_998 },
      { state: 'done', count: 1 },
    ]);
    expect(durations.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(6);
    const read = async (query: string) => (await api.call('GET', `/v1/jobs/${number}/tasks?${query}`)).json();
    const indices = (page: { items: { index: number }[] }) => page.items.map(({ index }) => index);
    const first = await read('state=done,error&limit=4');
    expect([indices(first), first.next]).toEqual([[0, 1, 2, 5_999], '5999']);
    const second = await read(`state=done,error&limit=4&after=${first.next}`);
    expect([indices(second), second.next]).toEqual([[6_000, 11_999], null]);
    expect(indices(await read('state=pending&limit=2&after=5000'))).toEqual([5_001, 5_002]);
    expect(await read('state=running')).toEqual({ items: [], next: null });
    expect((await read('state=gone')).error).toMatchObject({ code: 'VALIDATION', field: 'state.0' });
  });

  it('gives a cell for several tasks of a large job: the most urgent of their states', async () => {
    const api = await createTestApi();
    const total = 1_000_000;
    const number = await api.submit({ array: `5-${total + 4}%500` });
    const job = api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    endInOrder(
      job,
      Array.from({ length: 25 }, (_, task) => task),
    );
    const cancel = (tasks: string) => api.call('POST', `/v1/jobs/${number}/tasks/cancel`, { body: { tasks } });
    expect((await (await cancel(`504-${total + 4}`)).json()).tasks).toMatchObject({ total, cancelled: 999_501 });
    expect((await cancel(`5-${total + 5}`)).status).toBe(422);
    const states = await (await api.call('GET', `/v1/jobs/${number}/task-states`)).json();
    expect([states.total, states.tasksPerCell]).toEqual([total, 10]);
    expect(states.runs).toEqual([
      { state: 'done', count: 2 },
      { state: 'pending', count: 48 },
      { state: 'cancelled', count: 99_950 },
    ]);
    const last = await (await api.call('GET', `/v1/jobs/${number}/tasks?state=pending,done&limit=1&after=497`)).json();
    expect(last).toMatchObject({ items: [{ index: 498, id: 503, state: 'pending' }], next: null });
    const never = await (await api.call('GET', `/v1/jobs/${number}/tasks?after=${total - 2}`)).json();
    expect(never.items).toMatchObject([{ id: total + 4, state: 'cancelled', reason: 'Cancelled by ada.' }]);
  });

  it.each(['that still ends', 'that has ended, without Temporal'])(
    'shows tasks that never ran as cancelled, with the reason, in a job %s',
    async (when) => {
      const api = await createTestApi();
      const number = await api.submit({ ntasks: 4 });
      const job = api.workflows.jobs.get(number);
      if (job === undefined) throw new Error('no job');
      endInOrder(job, [0]);
      const atMs = api.now();
      cancelJob(job, { code: 'JOB_TIMEOUT', text: 'it took too long', atMs });
      if (when !== 'that still ends') {
        await api.objects.put(taskPageKey('default', number, 0), json(job.page));
        await api.workflows.endJob({ ...endedView(api, number), status: 'error', endedAtMs: atMs, pagesWritten: 1 });
        api.workflows.control.isUnavailable = true;
      }
      const { items } = await (await api.call('GET', `/v1/jobs/${number}/tasks`)).json();
      const endedAt = new Date(atMs).toISOString();
      const never = { state: 'cancelled', attempt: 0, endedAt, reason: 'it took too long' };
      expect(items).toMatchObject([{ state: 'done' }, never, never, never]);
    },
  );

  it.each(['damaged', 'missing'])(
    'reports a %s page of the archive, and shows the tasks of the others',
    async (how) => {
      const api = await createTestApi();
      const number = await api.submit({ ntasks: taskPageSize + 1 });
      const job = api.workflows.jobs.get(number);
      if (job === undefined) throw new Error('no job');
      endInOrder(
        job,
        Array.from({ length: taskPageSize + 1 }, (_, task) => task),
      );
      await archivePages(api, job);
      const view = endedView(api, number);
      const key = taskPageKey('default', number, 0);
      await api.objects.delete(key);
      if (how === 'damaged') await api.objects.put(key, Buffer.from('[{"task":0,'));
      await api.workflows.endJob({ ...view, pagesWritten: 2 });

      const first = await (await api.call('GET', `/v1/jobs/${number}/tasks?limit=1`)).json();
      expect(first.items).toMatchObject([{ index: 0, state: 'unknown' }]);
      const last = await (await api.call('GET', `/v1/jobs/${number}/tasks?after=${taskPageSize - 1}`)).json();
      expect(last.items).toMatchObject([{ index: taskPageSize, state: 'done' }]);
      expect(api.logged.filter((line) => line.includes(key))).toHaveLength(1);
    },
  );

  it('shows a job whose specification is damaged before its first view, and reports it', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    const number = await api.submit({ ntasks: 3 });
    const [row] = (await api.store.jobs.list({ workspace: 'default', limit: 1 })).items;
    const specRef = row?.specRef ?? '';
    await api.objects.put(specRef, Buffer.from('{'));
    const answer = await api.call('GET', `/v1/jobs/${number}`);
    expect([answer.status, (await answer.json()).number]).toEqual([200, number]);
    expect(api.logged.some((line) => line.includes(specRef))).toBe(true);
  });

  it('shows what each task has cost, about, once the ledger has its instance', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3 });
    const job = api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    const startedAtMs = api.now() - 3_600_000;
    endTasks(job, [0, 1], (task) => ({ exitCode: 0, startedAtMs, endedAtMs: startedAtMs + (task + 1) * 600_000 }));
    const read = async () => (await (await api.call('GET', `/v1/jobs/${number}/tasks`)).json()).items;
    const costs = async () => (await read()).map(({ cost }: { cost: { dollars: number } | null }) => cost?.dollars);
    expect(await costs()).toEqual([undefined, undefined, undefined]);
    const [{ instance }] = await read();
    const price = { microsPerHour: 3_000_000, diskMicrosPerHour: 500_000, addressMicrosPerHour: 100_000, source: '' };
    const kind = { role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot' } as const;
    const entry = { instance, ...kind, ...price, fromMs: startedAtMs - 60_000, toMs: null };
    // As the workflow of its cluster writes it, which has the job's number.
    const view = { ...aClusterView('default', number), costs: [entry] };
    await api.store.clusters.project({ view, version: 1, nowMs: api.now() });
    expect(await costs()).toEqual([0.6, 1.2, undefined]);
  });

  it('reads an ended job without Temporal', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 5 });
    const job = api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    endInOrder(job, [4, 2, 0, 1, 3]);
    const view = endedView(api, number);
    await api.objects.put(taskPageKey('default', number, 0), json(job.page));
    await api.workflows.endJob({ ...view, pagesWritten: 1 });
    api.workflows.control.isUnavailable = true;
    const page = await (await api.call('GET', `/v1/jobs/${number}/tasks`)).json();
    expect(page.next).toBeNull();
    expect(page.items.map(({ index, state }: { index: number; state: string }) => [index, state])).toEqual(
      [0, 1, 2, 3, 4].map((index) => [index, 'done']),
    );
    const beyond = await (await api.call('GET', `/v1/jobs/${number}/tasks?after=99`)).json();
    expect(beyond).toEqual({ items: [], next: null });
  });
});

const endInOrder = (job: JobState, tasks: readonly number[]): void =>
  endTasks(job, tasks, () => ({ exitCode: 0, startedAtMs: 1, endedAtMs: 2 }));
