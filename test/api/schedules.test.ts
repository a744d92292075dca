// Schedules of jobs: the submission of each run, its user, and the handling of failures.
import { describe, expect, it } from 'vitest';

// First: it extends the schemas of all others.
import { createTestApi } from './support.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { runSchedules } from '../../services/schedules/runs.ts';
import type { SchedulesPort } from '../../services/schedules/port.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';

/** Records the requests to Temporal. */
function recordingSchedules() {
  const known = new Map<string, JobSchedule>();
  const control = { isUnavailable: false };
  const asked = (): void => {
    if (control.isUnavailable) throw new RopewalkError({ code: 'UNAVAILABLE', message: 'unavailable' });
  };
  const port: SchedulesPort = {
    put: async (schedule) => {
      asked();
      known.set(schedule.id, schedule);
    },
    delete: async (id) => {
      asked();
      known.delete(id);
    },
    nextRuns: async (id) => (control.isUnavailable || !known.has(id) ? [] : [new Date('2030-01-01T03:00:00Z')]),
  };
  return { known, control, port };
}

async function open() {
  const temporal = recordingSchedules();
  const api = await createTestApi({ schedules: temporal.port });
  const post = async (path: string, body?: object, token?: string) => {
    const reply = await api.call('POST', path, { ...(body && { body }), ...(token !== undefined && { token }) });
    return { status: reply.status, body: await reply.json() };
  };
  const create = (more: object = {}, token?: string) =>
    post('/v1/schedules', { name: 'nightly', cron: '0 3 * * *', job: { command: ['true'] }, ...more }, token);
  const get = async (name = 'nightly') => (await api.call('GET', `/v1/schedules/${name}`)).json();
  /** As Temporal's Schedule does through its workflow, and then as the API does. */
  const run = async (name: string) => {
    const [schedule] = (await api.store.schedules.list('default')).filter((each) => each.name === 'nightly');
    await api.store.schedules.addRun({ schedule: schedule?.id ?? '', run: name, atMs: api.now() });
    await runSchedules(api.deps);
    return (await get()).runs[0];
  };
  const job = async (number: number) => (await api.call('GET', `/v1/jobs/${number}`)).json();
  const end = async (number: number) => {
    const { view } = await api.deps.views.job('default', number);
    await api.workflows.endJob({ ...view, status: 'done', endedAtMs: api.now() });
    await api.work();
  };
  return { ...api, temporal, post, create, get, run, job, end };
}

describe('a schedule', () => {
  it('submits its job at each run, as its creator, once, and is linked to it', async () => {
    const { create, run, get, job, temporal, objects, vault } = await open();
    const made = await create({
      timezone: 'Europe/Berlin',
      job: { command: ['work', 'x'], ntasks: 3, secretEnv: { KEY: 's3cret' }, taskTimeout: '5m' },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { state: 'active', command: 'work x', user: 'ada', timezone: 'Europe/Berlin' },
    });
    expect([...temporal.known.values()]).toMatchObject([{ cron: '0 3 * * *', isPaused: false }]);
    expect(JSON.stringify([...temporal.known.values()])).not.toContain('s3cret');
    const first = await run('run-1');
    expect(first).toMatchObject({ state: 'started', job: expect.any(Number) });
    expect(await job(first.job)).toMatchObject({
      schedule: 'nightly',
      user: 'ada',
      command: 'work x',
      tasks: { total: 3 },
    });
    expect((await run('run-1')).job).toBe(first.job);
    expect(await get()).toMatchObject({
      lastJob: first.job,
      nextRuns: ['2030-01-01T03:00:00.000Z'],
      runs: [{ job: first.job }],
    });
    const [key = ''] = (await objects.list('vault/default/schedule', { limit: 9 })).slice(0, 1);
    expect(Buffer.from((await objects.get(key)) ?? []).toString()).not.toContain('s3cret');
    expect(Buffer.from((await vault.open(key)) ?? []).toString()).toContain('s3cret');
  });

  it('handles overlapping runs as its `overlap` says', async () => {
    for (const [overlap, status] of [
      ['skip', null],
      ['allow', 'pending'],
      ['queue', 'waiting'],
      ['cancel', 'waiting'],
    ] as const) {
      const { create, run, job } = await open();
      await create({ overlap });
      const first = await run('a');
      const second = await run('b');
      if (status === null)
        expect(second).toMatchObject({
          state: 'skipped',
          job: null,
          text: `Job ${first.job} of an earlier run has not ended.`,
        });
      else expect(await job(second.job)).toMatchObject({ status });
      if (overlap === 'cancel') expect((await job(first.job)).reason).toMatchObject({ code: 'CANCELLED' });
    }
  });

  it('runs again after the job before has ended', async () => {
    const { create, run, end } = await open();
    await create();
    const first = await run('a');
    await end(first.job);
    const second = await run('b');
    expect(second).toMatchObject({ state: 'started' });
    expect(second.job).not.toBe(first.job);
  });

  it('is checked at each run against the quota and rights of that moment', async () => {
    const { create, run, get, addToken, store, now, call, setLimits } = await open();
    const token = await addToken('default', ['read', 'write'], 'bob', 'member');
    await create({}, token);
    await setLimits({ running: 0 });
    expect(await run('a')).toMatchObject({ state: 'refused', text: expect.stringContaining('the limit is 0') });
    expect((await get()).state).toBe('active');
    await setLimits({ running: 5 });
    await store.people.removeUser('default', { name: 'bob', by: null }, now());
    expect(await run('b')).toMatchObject({ state: 'refused', text: expect.stringContaining('bob was removed') });
    expect(await get()).toMatchObject({
      state: 'stopped',
      reason: expect.stringContaining('bob was removed'),
      nextRuns: [],
    });
    const { items } = await (await call('GET', '/v1/notifications')).json();
    expect(items[0]).toMatchObject({ type: 'schedule.stopped', text: expect.stringContaining('nightly') });
  });

  it('takes no trigger while ten runs have not begun, and its triggers keep no other workspace from its runs', async () => {
    const { create, post, run, get, addToken, store, deps } = await open();
    await create({ overlap: 'allow' });
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) statuses.push((await post('/v1/schedules/nightly/trigger')).status);
    expect(statuses).toEqual([...Array<number>(10).fill(202), 429, 429]);
    const token = await addToken('elsewhere', ['read', 'write']);
    await create({}, token);
    expect((await post('/v1/schedules/nightly/trigger', undefined, token)).status).toBe(202);
    await runSchedules(deps);
    const [theirs] = await store.schedules.list('elsewhere');
    expect((await store.schedules.listRuns(theirs?.id ?? '', 9)).map(({ state }) => state)).toEqual(['started']);
    // Runs of Temporal's Schedule are not limited by it.
    expect(await run('of-temporal')).toMatchObject({ state: 'due' });
    for (let count = 0; count < 3; count += 1) await runSchedules(deps);
    expect((await get()).runs.map(({ state }: { state: string }) => state)).toEqual(Array(11).fill('started'));
  });

  it('is paused, resumed, triggered and deleted', async () => {
    const { create, post, get, call, temporal, deps, store } = await open();
    await create();
    expect((await post('/v1/schedules/nightly/pause')).body.state).toBe('paused');
    expect([...temporal.known.values()][0]?.isPaused).toBe(true);
    expect((await get()).nextRuns).toEqual([]);
    await post('/v1/schedules/nightly/trigger');
    await runSchedules(deps);
    expect((await get()).runs).toMatchObject([{ state: 'started' }]);
    expect((await post('/v1/schedules/nightly/resume')).body.state).toBe('active');
    expect((await call('DELETE', '/v1/schedules/nightly')).status).toBe(202);
    expect([temporal.known.size, (await call('GET', '/v1/schedules/nightly')).status]).toEqual([0, 404]);
    expect(await store.schedules.listUnsynced(9)).toEqual([]);
    await create();
  });

  it('is accepted while Temporal is unavailable, and follows later', async () => {
    const { create, post, temporal, deps } = await open();
    temporal.control.isUnavailable = true;
    expect((await create()).body).toMatchObject({ state: 'active', acceptedForLater: true });
    await post('/v1/schedules/nightly/pause');
    await runSchedules(deps);
    expect(temporal.known.size).toBe(0);
    temporal.control.isUnavailable = false;
    await runSchedules(deps);
    expect([...temporal.known.values()]).toMatchObject([{ isPaused: true }]);
  });
});

it('errors name the field, and only its creator or an admin changes a schedule', async () => {
  const { create, post, call, addToken } = await open();
  expect((await create({ cron: '61 * * * *' })).body.error).toMatchObject({ code: 'VALIDATION', field: 'cron' });
  expect((await create({ timezone: 'Mars/Olympus' })).body.error).toMatchObject({ field: 'timezone' });
  expect((await create({ job: { command: ['true'], ntasks: 2, array: '0-1' } })).status).toBe(422);
  expect((await create()).status).toBe(201);
  expect((await create()).body.error).toMatchObject({ code: 'NAME_TAKEN' });
  const member = await addToken('default', ['read', 'write'], 'bob', 'member');
  const other = await addToken('other');
  for (const verb of ['pause', 'resume', 'trigger']) {
    expect((await post(`/v1/schedules/nightly/${verb}`, undefined, member)).status).toBe(403);
    expect((await post(`/v1/schedules/nightly/${verb}`, undefined, other)).status).toBe(404);
  }
  const admin = await addToken('default', ['read', 'write', 'admin'], 'eve', 'admin');
  expect((await post('/v1/schedules/nightly/pause', undefined, admin)).status).toBe(202);
  expect((await call('DELETE', '/v1/schedules/nightly', { token: admin })).status).toBe(202);
});
